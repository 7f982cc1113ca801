#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// One rule that splits a text into words, like a pre-tokenizer of Hugging Face; merges never cross a
/// boundary.
struct Split {
    enum class Kind {
        pattern,
        metaspace,
        prepend_space,     ///< splits nothing: prepends a blank to text that has none
        bytes_to_unicode,  ///< splits nothing: writes every byte as a character, as in GPT-2's vocabulary
        fixed_length,      ///< words of `length` characters
        scripts,           ///< words of one script each
    };
    /// What happens to a match of the pattern.
    enum class MatchBehavior { isolated, removed, contiguous, merged_with_previous, merged_with_next };
    enum class Prefix { never, first, always };

    Kind kind = Kind::pattern;
    std::optional<Pattern> pattern = {};  ///< for `metaspace`: `space`
    MatchBehavior match = MatchBehavior::isolated;
    bool inverted = false;          ///< the pattern describes the text between matches
    std::string space = "▁";        ///< for `metaspace`: replaces blanks; each one starts a word
    Prefix prefix = Prefix::never;  ///< for `metaspace`: texts that get one prepended; `first`: all that
                                    ///< begin with what stands for the first character
    bool splits_words = true;       ///< for `metaspace`: whether it splits at all
    std::uint64_t length = 0;       ///< for `fixed_length`: characters, not 0
};

/// Appends the rules of BERT: words are separated by white space, and each punctuation mark is one.
void addBertSplits(std::vector<Split>& splits);

/// What Hugging Face's tokenizers (0.23.3) count as punctuation: ASCII's, and Unicode's as of version 8.
Pattern punctuationMark();

/// Splits a text by each rule in order and passes on the words in order. A word is valid until the call
/// returns.
/// @param beginning  number of leading bytes that stand for the first character of the whole text
/// @throws std::invalid_argument if the budget is exceeded
void forEachWord(std::string_view text, std::span<const Split> splits, std::size_t beginning,
                 EncodingBudget& budget, const std::function<void(std::string_view)>& visit);

}  // namespace roper
