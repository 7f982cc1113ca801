#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/tokenizers/encoding_budget.h"

namespace roper {

/// A regular expression of a tokenizer, with the meaning that Hugging Face's tokenizers give it: it works on
/// Unicode characters, and `\s` means the property White_Space.
class Pattern {
  public:
    /// In bytes. The longest pattern of a published model has about 1000.
    static constexpr std::size_t kMaxBytes = 16U << 10U;

    /// @throws std::invalid_argument saying what is wrong and where
    explicit Pattern(const std::string& expression);

    /// A pattern that matches exactly this text, which must not be empty.
    static Pattern literal(std::string text);

    /// Calls `visit` for each match in order, with its begin and end in bytes, both at boundaries of
    /// characters. A match may be empty unless the previous match ended there.
    /// @param text  UTF-8 (`findInvalidUtf8`)
    /// @throws std::invalid_argument if the search exceeds the budget
    using MatchCallback = std::function<void(std::size_t begin, std::size_t end)>;
    void forEachMatch(std::string_view text, EncodingBudget& budget, const MatchCallback& visit) const;

  private:
    struct Compiled;
    class Search;
    Pattern() = default;

    std::string literal_;  ///< if not empty, nothing is compiled
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace roper
