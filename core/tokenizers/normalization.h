#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// A change of the text before it is split into words.
struct Normalization {
    enum class Kind { nfc, nfd, nfkc, nfkd, prepend, replace };
    Kind kind = Kind::nfc;
    std::optional<Pattern> pattern = {};  ///< for `replace`
    std::string text = {};                ///< the prefix, or the replacement of each match
};

/// Applies all changes in order. @param text  UTF-8
/// @throws std::invalid_argument if the budget is exceeded
std::string normalized(std::string text, const std::vector<Normalization>& changes, EncodingBudget& budget);

/// The text with each match of the pattern replaced. @throws std::invalid_argument like `normalized`
std::string replaced(std::string_view text, const Pattern& pattern, const std::string& by,
                     EncodingBudget& budget);

}  // namespace roper
