#include "core/tokenizers/added_tokens.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/base/text.h"
#include "core/tokenizers/characters.h"
#include "core/tokenizers/pieces.h"

namespace roper {
namespace {

/// Comparing one character with the tokens takes as long as this many other steps.
constexpr std::uint64_t kStepsToCompare = 16;

bool isWholeWord(std::string_view text, std::size_t begin, std::size_t end) {
    const auto before = characterBefore(text, begin), after = characterAt(text, end);
    return !(before && isWordCharacter(*before)) && !(after && isWordCharacter(*after));
}

/// Beginning of the whitespace before a position, and end of the whitespace behind one.
std::size_t whitespaceBegin(std::string_view text, std::size_t at) {
    for (auto before = characterBefore(text, at); before && isWhiteSpace(*before);
         before = characterBefore(text, at))
        at = previousCharacterBegin(text, at);
    return at;
}

std::size_t whitespaceEnd(std::string_view text, std::size_t at) {
    for (auto after = characterAt(text, at); after && isWhiteSpace(*after); after = characterAt(text, at))
        at += characterLength(text[at]);
    return at;
}

}  // namespace

AddedTokenSearch::AddedTokenSearch(std::vector<SearchEntry> tokens) : tokens_(std::move(tokens)) {
    search_ =
        PrefixSearch(mapped(tokens_, [](const SearchEntry& entry) { return std::string_view(entry.text); }));
}

const AddedTokenSearch::SearchEntry* AddedTokenSearch::longestMatchAt(std::string_view text, std::size_t at,
                                                                      EncodingBudget& budget) const {
    const SearchEntry* longest = nullptr;
    search_.forEachAt(text, at, budget, [&](std::size_t index, std::size_t) { longest = &tokens_[index]; });
    return longest;
}

void AddedTokenSearch::forEachSegment(std::string_view text, EncodingBudget& budget,
                                      const SegmentCallback& visit) const {
    budget.require(text.size());
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
        const SearchEntry* const found = longestMatchAt(text, at, budget);
        if (found == nullptr) {
            ++at;
            continue;
        }
        const std::size_t found_end = at + found->text.size();
        std::size_t begin = std::exchange(at, found_end), end = found_end;
        if (found->token->whole_word && !isWholeWord(text, begin, end)) continue;
        if (found->token->strips_left) begin = std::max(whitespaceBegin(text, begin), done);
        if (found->token->strips_right) end = whitespaceEnd(text, end);
        budget.require(kStepsToCompare * (end - at));
        if (begin > end)
            throw std::invalid_argument(
                "the added token " + quoteExcerpt(toSingleLine(found->token->text)) +
                " lies within the whitespace that the added token before it has stripped");
        if (begin > done) visit(text.substr(done, begin - done), nullptr);
        if (end > begin) visit(text.substr(begin, end - begin), found->token);
        done = end;
    }
    if (done < text.size()) visit(text.substr(done), nullptr);
}

}  // namespace roper
