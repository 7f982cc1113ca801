#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// One step in turning pieces, the strings of tokens, into text, like a decoder of Hugging Face's tokenizers.
struct Decoding {
    enum class Kind {
        byte_level,     ///< the characters by which GPT-2 represents bytes become bytes
        byte_fallback,  ///< pieces such as <0x0A> become bytes
        replace,        ///< each match of `pattern` becomes `text`
        fuse,           ///< joins all pieces
        strip,        ///< drops the character `text`, up to `at_begin` times at the beginning of a piece and
                      ///< `at_end` times at its end
        metaspace,    ///< `text` becomes a space, except in the first piece if `drops_first`
        word_piece,   ///< a piece that begins with `text` continues the word, without `text`; others follow a
                      ///< space
        word_suffix,  ///< `text` becomes a space, or nothing in the last piece
        ctc,          ///< repeated pieces and `text`, the padding, are dropped
    };
    Kind kind = Kind::fuse;
    std::string text = {};
    std::optional<Pattern> pattern = {};
    std::uint64_t at_begin = 0, at_end = 0;
    bool drops_first = false;
    /// For `word_piece` and `ctc`: no blanks before punctuation and English contractions.
    bool tidies = false;
    std::string delimiter = {};  ///< for `ctc`, if it tidies: becomes a blank
};

/// The text of pieces, as Hugging Face's tokenizers (0.23.3) give it; bytes that are not UTF-8 become U+FFFD.
/// @throws std::invalid_argument if the budget is exceeded
std::string decoded(std::vector<std::string> pieces, const std::vector<Decoding>& steps,
                    EncodingBudget& budget);

/// The bytes that a piece adds within a text, possibly an incomplete character: what the steps do at the ends
/// of a text and with repeated pieces is left out. @throws std::invalid_argument if the budget is exceeded
std::string decodedWithin(std::string piece, const std::vector<Decoding>& steps, EncodingBudget& budget);

}  // namespace roper
