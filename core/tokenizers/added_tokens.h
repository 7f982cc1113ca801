#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/encoding_budget.h"

namespace roper {

/// A token that is found in the text as it stands, before anything else.
struct AddedToken {
    std::string text;
    std::int64_t id = 0;
    bool special = false;      ///< a mark such as <|im_end|> rather than text
    bool normalized = false;   ///< looked for after the text was normalized
    bool takes_left = false;   ///< with the blanks before it
    bool takes_right = false;  ///< with the blanks after it
    bool whole_word = false;   ///< only where no letter stands beside it
};

/// Finds added tokens in a text: at each place the longest that stands there. Of two with the same text the
/// first counts.
class AddedTokenSearch {
  public:
    AddedTokenSearch() = default;
    /// @param tokens  none with an empty text; they must outlive the search
    explicit AddedTokenSearch(std::vector<const AddedToken*> tokens);

    /// Calls `take` with each stretch of the text in turn, and the token that it is or null.
    /// @throws std::invalid_argument for more steps than the budget has
    using TakeStretch = std::function<void(std::string_view stretch, const AddedToken* token)>;
    void forEachStretch(std::string_view text, EncodingBudget& budget, const TakeStretch& take) const;

  private:
    const AddedToken* tokenAt(std::string_view text, std::size_t at, EncodingBudget& budget) const;

    std::vector<const AddedToken*> tokens_;  ///< by text
    std::array<bool, 256> begins_{};         ///< which bytes begin one
};

}  // namespace roper
