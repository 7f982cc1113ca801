#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/tokenizers/encoding_budget.h"

namespace roper {

/// A regular expression of a tokenizer, as Hugging Face's tokenizers understand it: over Unicode characters,
/// `\s` the characters of the property White_Space.
class Pattern {
  public:
    /// In bytes. The longest of a published model has about 1000.
    static constexpr std::size_t kLongest = 16U << 10U;

    /// @throws std::invalid_argument saying what is wrong with it and where
    explicit Pattern(const std::string& expression);

    /// A pattern that matches this text alone, which is not empty.
    static Pattern literal(std::string text);

    /// Calls `take` with begin and end, in bytes, of each match in turn. A match may be empty, but not where
    /// the one before it ended. Begin and end are those of characters.
    /// @param text  UTF-8 (`firstNotUtf8`)
    /// @throws std::invalid_argument for a pattern that takes more steps than the budget has
    using TakeMatch = std::function<void(std::size_t begin, std::size_t end)>;
    void forEachMatch(std::string_view text, EncodingBudget& budget, const TakeMatch& take) const;

  private:
    struct Compiled;
    class Search;
    Pattern() = default;

    std::string literal_;  ///< if this is not empty, nothing is compiled
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace roper
