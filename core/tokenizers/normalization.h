#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/charsmap.h"
#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// A change of the text before it is split into words.
struct Normalization {
    enum class Kind {
        nfc,
        nfd,
        nfkc,
        nfkd,
        prepend,  ///< `text`, unless the text is empty
        replace,  ///< each match of the pattern
        lower_case,
        strip,             ///< white space at the ends
        strip_accents,     ///< removes combining marks
        strip_nonspacing,  ///< removes nonspacing marks (BERT)
        clean,             ///< removes control characters and makes white space blanks (BERT)
        pad_chinese,       ///< blanks around each Chinese character (BERT)
        nmt,               ///< removes some control characters and makes some characters blanks
        graphemes_by_map,  ///< Charsmap::byGraphemes
        longest_by_map,    ///< Charsmap::byLongest
        bytes_to_unicode,  ///< every byte becomes a character, as in GPT-2's vocabulary
    };
    Kind kind = Kind::nfc;
    std::optional<Pattern> pattern = {};            ///< for `replace`
    std::string text = {};                          ///< the prefix, or the replacement of each match
    bool at_left = true, at_right = true;           ///< for `strip`
    std::shared_ptr<const Charsmap> charsmap = {};  ///< for `graphemes_by_map` and `longest_by_map`
};

/// Applies all changes in order. @param text  UTF-8
/// @param beginning  receives the number of leading bytes of the result that stand for the first character of
/// the text, as Hugging Face's tokenizers (0.23.3) trace them: what replaces a match stands for its last
/// character, and what is inserted for the character before it
/// @throws std::invalid_argument if the budget is exceeded
std::string normalized(std::string text, const std::vector<Normalization>& changes, EncodingBudget& budget,
                       std::size_t* beginning = nullptr);

/// The text with each match of the pattern replaced. @throws std::invalid_argument like `normalized`
std::string replaced(std::string_view text, const Pattern& pattern, const std::string& by,
                     EncodingBudget& budget);

/// The characters by which GPT-2's vocabulary writes bytes, in UTF-8: 'A' for itself, "Ġ" for a blank.
const std::vector<std::string>& byteCharacters();

/// The text with every byte written as such a character. @throws std::invalid_argument like `normalized`
std::string asByteCharacters(std::string_view text, EncodingBudget& budget);

}  // namespace roper
