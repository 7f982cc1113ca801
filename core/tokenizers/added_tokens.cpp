#include "core/tokenizers/added_tokens.h"

#include <algorithm>
#include <span>

namespace roper {
namespace {

/// To compare a character with those of all tokens takes as long as so many steps of other kinds.
constexpr std::uint64_t kStepsToCompare = 16;

bool isBlank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool isWordCharacter(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool standsAlone(std::string_view text, std::size_t begin, std::size_t end) {
    return (begin == 0 || !isWordCharacter(text[begin - 1])) &&
           (end == text.size() || !isWordCharacter(text[end]));
}

}  // namespace

AddedTokenSearch::AddedTokenSearch(std::vector<const AddedToken*> tokens) : tokens_(std::move(tokens)) {
    std::stable_sort(tokens_.begin(), tokens_.end(),
                     [](const AddedToken* a, const AddedToken* b) { return a->text < b->text; });
    // A second one of the same text is found only where the first must stand alone and the second need not.
    tokens_.erase(std::unique(tokens_.begin(), tokens_.end(),
                              [](const AddedToken* a, const AddedToken* b) {
                                  return a->text == b->text && (!a->whole_word || b->whole_word);
                              }),
                  tokens_.end());
    for (const AddedToken* const token : tokens_)
        begins_[static_cast<unsigned char>(token->text.front())] = true;
}

/// Narrows the tokens down to those that go on as the text does, a byte at a time: they stand in a row.
const AddedToken* AddedTokenSearch::tokenAt(std::string_view text, std::size_t at,
                                            EncodingBudget& budget) const {
    const AddedToken* longest = nullptr;
    std::span<const AddedToken* const> among = tokens_;
    for (std::size_t length = 1; !among.empty() && at + length <= text.size(); ++length) {
        budget.require(kStepsToCompare);
        const auto byteOf = [](char c) { return static_cast<int>(static_cast<unsigned char>(c)); };
        const auto byte = [&](const AddedToken* token) {
            return token->text.size() < length ? -1 : byteOf(token->text[length - 1]);
        };
        const int wanted = byteOf(text[at + length - 1]);
        const auto first = std::partition_point(
            among.begin(), among.end(), [&](const AddedToken* token) { return byte(token) < wanted; });
        const auto last = std::partition_point(
            first, among.end(), [&](const AddedToken* token) { return byte(token) == wanted; });
        among = among.subspan(static_cast<std::size_t>(first - among.begin()),
                              static_cast<std::size_t>(last - first));
        for (const AddedToken* const token : among) {  // two of the same text at most
            if (token->text.size() > length) break;
            if (token->whole_word && !standsAlone(text, at, at + length)) continue;
            longest = token;
            break;
        }
    }
    return longest;
}

void AddedTokenSearch::forEachStretch(std::string_view text, EncodingBudget& budget,
                                      const TakeStretch& take) const {
    budget.require(text.size());
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!begins_[static_cast<unsigned char>(text[at])]) continue;
        const AddedToken* const found = tokenAt(text, at, budget);
        if (found == nullptr) continue;
        std::size_t begin = at, end = at + found->text.size();
        while (found->takes_left && begin > done && isBlank(text[begin - 1]))
            --begin;
        while (found->takes_right && end < text.size() && isBlank(text[end]))
            ++end;
        if (begin > done) take(text.substr(done, begin - done), nullptr);
        take(text.substr(begin, end - begin), found);
        done = end;
        at = end - 1;
    }
    if (done < text.size()) take(text.substr(done), nullptr);
}

}  // namespace roper
