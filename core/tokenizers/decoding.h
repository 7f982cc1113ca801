#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// One step from pieces to text, like a decoder of Hugging Face.
struct Decoding {
    enum class Kind {
        byte_level,     ///< from GPT-2's characters to bytes
        byte_fallback,  ///< pieces such as <0x0A> become bytes
        replace,        ///< each match of `pattern` becomes `text`
        fuse,           ///< joins all pieces
        strip,          ///< up to `at_begin` and `at_end` characters `text` at the ends of each piece
        metaspace,      ///< `text` becomes a blank, except in the first piece if `drops_first`
        word_piece,     ///< a blank before each piece, except the first, that does not begin with `text`
        word_suffix,    ///< `text` becomes a blank, or nothing in the last piece
        ctc,            ///< repeated pieces and `text`, the padding, are dropped
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
