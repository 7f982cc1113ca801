#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/encoding_budget.h"

namespace roper {

/// A token that is found in a text before this is divided into words.
struct AddedToken {
    std::string text;
    std::int64_t id = 0;
    bool special = false;     ///< a mark such as <|im_end|> rather than text
    bool normalized = false;  ///< what the normalizers make of it is looked for in what they make of the text
    bool takes_left = false;  ///< with the blanks before it
    bool takes_right = false;  ///< with the blanks after it
    bool whole_word = false;   ///< only where no letter stands beside it
};

/// Finds added tokens in a text as Hugging Face's tokenizers do (0.23.3): of all that begin farthest to the
/// left the longest, and the next behind it. One that must stand alone and does not is passed over with all
/// others that begin within it.
class AddedTokenSearch {
  public:
    /// A token and the text that stands for it, which is not empty.
    struct Sought {
        std::string text;
        const AddedToken* token;
    };

    AddedTokenSearch() = default;
    /// @param tokens  with different texts; the tokens must outlive the search
    explicit AddedTokenSearch(std::vector<Sought> tokens);

    /// Calls `take` with each stretch of the text in turn, and the token that it is or null. Blanks that one
    /// token took to its right may belong to the next as well; a token that is left with none of its text is
    /// left out.
    /// @param text  UTF-8
    /// @throws std::invalid_argument for more steps than the budget has, and for a token all of which lies
    /// within what the one before it took
    using TakeStretch = std::function<void(std::string_view stretch, const AddedToken* token)>;
    void forEachStretch(std::string_view text, EncodingBudget& budget, const TakeStretch& take) const;

  private:
    const Sought* longestAt(std::string_view text, std::size_t at, EncodingBudget& budget) const;

    std::vector<Sought> tokens_;      ///< by text
    std::array<bool, 256> begins_{};  ///< which bytes begin one
};

}  // namespace roper
