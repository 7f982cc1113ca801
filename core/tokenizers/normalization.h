#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/pattern.h"

namespace roper {

/// A change of the text before it is cut.
struct Normalization {
    enum class Kind { nfc, nfd, nfkc, nfkd, prepend, replace };
    Kind kind = Kind::nfc;
    std::optional<Pattern> pattern = {};  ///< of `replace`
    std::string text = {};                ///< that is put before, or in place of what matches
};

/// The text after all changes in turn. @param text  UTF-8
/// @throws std::invalid_argument for what the budget does not allow
std::string normalized(std::string text, const std::vector<Normalization>& changes, EncodingBudget& budget);

/// The text with each match of the pattern replaced. @throws std::invalid_argument as `normalized`
std::string replaced(std::string_view text, const Pattern& pattern, const std::string& by,
                     EncodingBudget& budget);

}  // namespace roper
