#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// One way to cut a text into words, as Hugging Face's pre-tokenizers do; merges never reach over a cut.
struct Split {
    enum class Kind { pattern, metaspace, blank_first };
    /// What becomes of a match of the pattern.
    enum class Match { isolated, removed, contiguous, with_previous, with_next };
    enum class Prefix { never, first, always };

    Kind kind = Kind::pattern;            ///< `blank_first` cuts nothing: what begins with no blank gets one
    std::optional<Pattern> pattern = {};  ///< of `metaspace`: `space`
    Match match = Match::isolated;
    bool inverted = false;          ///< what does not match counts as a match
    std::string space = "▁";        ///< of `metaspace`: what blanks become; a word begins with each
    Prefix prefix = Prefix::never;  ///< of `metaspace`: which texts get one put before them
    bool cuts = true;               ///< of `metaspace`: whether it cuts at them
};

/// Cuts a text by each way in turn and hands out the words in order. A word is valid until the call returns.
/// @param is_first  whether the text is the beginning of all
/// @throws std::invalid_argument for what the budget does not allow
void forEachWord(std::string_view text, std::span<const Split> splits, bool is_first, EncodingBudget& budget,
                 const std::function<void(std::string_view)>& take);

}  // namespace roper
