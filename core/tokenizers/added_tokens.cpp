#include "core/tokenizers/added_tokens.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "core/base/text.h"
#include "core/tokenizers/bpe.h"

namespace roper {
namespace {

/// Comparing one character with the tokens takes as long as this many other steps.
constexpr std::uint64_t kStepsToCompare = 16;

/// The character whose UTF-8 encoding begins at byte `begin`; nothing at the end of the text.
std::optional<utf8proc_int32_t> characterAt(std::string_view text, std::size_t begin) {
    utf8proc_int32_t character = -1;
    const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto left = static_cast<utf8proc_ssize_t>(text.size() - begin);
    if (left == 0 || ::utf8proc_iterate(bytes + begin, left, &character) <= 0) return std::nullopt;
    return character;
}

/// First byte of the character that ends before byte `end` (> 0).
std::size_t previousCharacterBegin(std::string_view text, std::size_t end) {
    do
        --end;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80);
    return end;
}

/// The character that ends before byte `end`; nothing at the beginning of the text.
std::optional<utf8proc_int32_t> characterBefore(std::string_view text, std::size_t end) {
    return end == 0 ? std::nullopt : characterAt(text, previousCharacterBegin(text, end));
}

bool isBlank(utf8proc_int32_t character) {
    const auto category = ::utf8proc_category(character);
    return (character >= '\t' && character <= '\r') || character == 0x85 ||
           category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP;
}

/// A word character of Unicode's regular expressions (UTS #18, annex C): alphabetic, mark, decimal digit,
/// connector punctuation or joiner.
bool isWordCharacter(utf8proc_int32_t character) {
    constexpr std::pair<utf8proc_int32_t, utf8proc_int32_t> kAlphabeticSymbols[] = {
        {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    switch (::utf8proc_category(character)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_PC:
            return true;
        case UTF8PROC_CATEGORY_CF:
            return character == 0x200C || character == 0x200D;
        case UTF8PROC_CATEGORY_SO:
            return std::any_of(
                std::begin(kAlphabeticSymbols), std::end(kAlphabeticSymbols),
                [&](const auto& range) { return character >= range.first && character <= range.second; });
        default:
            return false;
    }
}

bool isWholeWord(std::string_view text, std::size_t begin, std::size_t end) {
    const auto before = characterBefore(text, begin), after = characterAt(text, end);
    return !(before && isWordCharacter(*before)) && !(after && isWordCharacter(*after));
}

/// Beginning of the whitespace before a position, and end of the whitespace behind one.
std::size_t whitespaceBegin(std::string_view text, std::size_t at) {
    for (auto before = characterBefore(text, at); before && isBlank(*before);
         before = characterBefore(text, at))
        at = previousCharacterBegin(text, at);
    return at;
}

std::size_t whitespaceEnd(std::string_view text, std::size_t at) {
    for (auto after = characterAt(text, at); after && isBlank(*after); after = characterAt(text, at))
        at += characterLength(text[at]);
    return at;
}

}  // namespace

AddedTokenSearch::AddedTokenSearch(std::vector<SearchEntry> tokens) : tokens_(std::move(tokens)) {
    std::sort(tokens_.begin(), tokens_.end(),
              [](const SearchEntry& a, const SearchEntry& b) { return a.text < b.text; });
    for (const SearchEntry& entry : tokens_)
        first_bytes_[static_cast<unsigned char>(entry.text.front())] = true;
}

/// Goes through the text byte by byte and narrows the range of sorted tokens to those that still match.
const AddedTokenSearch::SearchEntry* AddedTokenSearch::longestMatchAt(std::string_view text, std::size_t at,
                                                                      EncodingBudget& budget) const {
    const SearchEntry* longest = nullptr;
    std::span<const SearchEntry> matching = tokens_;
    for (std::size_t length = 1; !matching.empty() && at + length <= text.size(); ++length) {
        budget.require(kStepsToCompare);
        const auto byteOf = [](char c) { return static_cast<int>(static_cast<unsigned char>(c)); };
        const auto byte = [&](const SearchEntry& entry) {
            return entry.text.size() < length ? -1 : byteOf(entry.text[length - 1]);
        };
        const int wanted = byteOf(text[at + length - 1]);
        const auto first = std::partition_point(
            matching.begin(), matching.end(), [&](const SearchEntry& entry) { return byte(entry) < wanted; });
        const auto last = std::partition_point(
            first, matching.end(), [&](const SearchEntry& entry) { return byte(entry) == wanted; });
        matching = matching.subspan(static_cast<std::size_t>(first - matching.begin()),
                                    static_cast<std::size_t>(last - first));
        if (!matching.empty() && matching.front().text.size() == length) longest = &matching.front();
    }
    return longest;
}

void AddedTokenSearch::forEachSegment(std::string_view text, EncodingBudget& budget,
                                      const SegmentCallback& visit) const {
    budget.require(text.size());
    std::size_t done = 0;
    for (std::size_t at = 0; at < text.size();) {
        const SearchEntry* const found =
            first_bytes_[static_cast<unsigned char>(text[at])] ? longestMatchAt(text, at, budget) : nullptr;
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
                " is to take blanks that the token before it has taken, itself among them");
        if (begin > done) visit(text.substr(done, begin - done), nullptr);
        if (end > begin) visit(text.substr(begin, end - begin), found->token);
        done = end;
    }
    if (done < text.size()) visit(text.substr(done), nullptr);
}

}  // namespace roper
