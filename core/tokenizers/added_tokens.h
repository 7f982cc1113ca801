#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/encoding_budget.h"
#include "core/tokenizers/prefix_search.h"

namespace roper {

/// A token that is searched for in a text before the text is split into words.
struct AddedToken {
    std::string text;
    std::int64_t id = 0;
    bool special = false;       ///< a control token such as <|im_end|> rather than text
    bool normalized = false;    ///< both the token and the text are normalized before the search
    bool strips_left = false;   ///< includes the whitespace before it (`lstrip`)
    bool strips_right = false;  ///< includes the whitespace after it (`rstrip`)
    bool whole_word = false;    ///< matches only where no word character is next to it (`single_word`)
};

/// Finds added tokens in a text as Hugging Face's tokenizers do (0.23.3): the leftmost match wins, then the
/// longest one at that place, and the search goes on behind it. If a match must be a whole word and is not,
/// it is skipped together with all other matches that begin within it.
class AddedTokenSearch {
  public:
    /// A token and its text to search for, which must not be empty.
    struct SearchEntry {
        std::string text;
        const AddedToken* token;
    };

    AddedTokenSearch() = default;
    /// @param tokens  all with different texts; the tokens must outlive the search
    explicit AddedTokenSearch(std::vector<SearchEntry> tokens);

    /// Calls `visit` with each stretch of the text in order, together with its token, or null for plain text.
    /// Whitespace that one token includes on its right may also belong to the next token. A token without any
    /// text left is omitted.
    /// @param text  UTF-8
    /// @throws std::invalid_argument if the search exceeds the budget, and if a token lies entirely within
    /// the stretch of the token before it
    using SegmentCallback = std::function<void(std::string_view segment, const AddedToken* token)>;
    void forEachSegment(std::string_view text, EncodingBudget& budget, const SegmentCallback& visit) const;

  private:
    const SearchEntry* longestMatchAt(std::string_view text, std::size_t at, EncodingBudget& budget) const;

    std::vector<SearchEntry> tokens_;
    PrefixSearch search_;  ///< views of the texts of tokens_, whose buffers never move
};

}  // namespace roper
