#include "core/tokenizers/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace roper {
namespace {

static_assert(sizeof(Character) == sizeof(utf8proc_int32_t));

struct CharacterRange {
    Character first, last;
};

bool isIn(std::span<const CharacterRange> sorted, Character character) {
    const auto range = std::lower_bound(sorted.begin(), sorted.end(), character,
                                        [](const CharacterRange& one, Character c) { return one.last < c; });
    return range != sorted.end() && range->first <= character;
}

// Characters that later versions of Unicode assigned to these categories.
constexpr CharacterRange kLaterOther[] = {
#define ROPER_LATER_OTHER
#include "core/tokenizers/older_characters.inc"
#undef ROPER_LATER_OTHER
};
constexpr CharacterRange kLaterNonspacing[] = {
#define ROPER_LATER_NONSPACING
#include "core/tokenizers/older_characters.inc"
#undef ROPER_LATER_NONSPACING
};
constexpr CharacterRange kLaterCombining[] = {
#define ROPER_LATER_COMBINING
#include "core/tokenizers/older_characters.inc"
#undef ROPER_LATER_COMBINING
};

constexpr CharacterRange kLaterNormalized[] = {
#define ROPER_LATER_NORMALIZED
#include "core/tokenizers/older_characters.inc"
#undef ROPER_LATER_NORMALIZED
};

struct ScriptRange {
    Character first, last;
    int script;
};
constexpr ScriptRange kScripts[] = {
#include "core/tokenizers/scripts.inc"
};

bool isMark(utf8proc_category_t category) {
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
           category == UTF8PROC_CATEGORY_ME;
}

}  // namespace

std::optional<Character> characterAt(std::string_view text, std::size_t begin) {
    utf8proc_int32_t character = -1;
    const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto left = static_cast<utf8proc_ssize_t>(text.size() - begin);
    if (left == 0 || ::utf8proc_iterate(bytes + begin, left, &character) <= 0) return std::nullopt;
    return character;
}

std::size_t previousCharacterBegin(std::string_view text, std::size_t end) {
    do
        --end;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80);
    return end;
}

std::optional<Character> characterBefore(std::string_view text, std::size_t end) {
    return end == 0 ? std::nullopt : characterAt(text, previousCharacterBegin(text, end));
}

void append(Character character, std::string& text) {
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto length = ::utf8proc_encode_char(character, bytes.data());
    text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::string lowerCaseOf(Character character) {
    // Pairs of Unicode 16 and 17, as in Rust's standard library; utf8proc may not know them yet.
    struct CasePairs {
        Character first, last, lower;
    };
    static constexpr CasePairs kCasePairsAfterUnicode15[] = {
        {0x1C89, 0x1C89, 0x1C8A},   {0xA7CB, 0xA7CB, 0x264},  {0xA7CC, 0xA7CC, 0xA7CD},
        {0xA7CE, 0xA7CE, 0xA7CF},   {0xA7D2, 0xA7D2, 0xA7D3}, {0xA7D4, 0xA7D4, 0xA7D5},
        {0xA7DA, 0xA7DA, 0xA7DB},   {0xA7DC, 0xA7DC, 0x19B},  {0x10D50, 0x10D65, 0x10D70},
        {0x16EA0, 0x16EB8, 0x16EBB}};
    std::string text;
    if (character == 0x130) return "i\u0307";
    Character lower = ::utf8proc_tolower(character);
    for (const CasePairs& pairs : kCasePairsAfterUnicode15)
        if (character >= pairs.first && character <= pairs.last)
            lower = pairs.lower + character - pairs.first;
    append(lower, text);
    return text;
}

bool isWhiteSpace(Character character) {
    const auto category = ::utf8proc_category(character);
    return (character >= '\t' && character <= '\r') || character == 0x85 ||
           category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP;
}

bool isWordCharacter(Character character) {
    static constexpr CharacterRange kAlphabeticSymbols[] = {
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
            return isIn(kAlphabeticSymbols, character);
        default:
            return false;
    }
}

bool isOther(Character character) {
    switch (::utf8proc_category(character)) {
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_CO:
            return !isIn(kLaterOther, character);
        default:
            return false;
    }
}

bool isNonspacingMark(Character character) {
    if (character == 0x1734) return true;  // a spacing mark since Unicode 14
    return ::utf8proc_category(character) == UTF8PROC_CATEGORY_MN && !isIn(kLaterNonspacing, character);
}

bool isCombiningMark(Character character) {
    if (character == 0x1CF2 || character == 0x1CF3) return true;  // letters since Unicode 12
    return isMark(::utf8proc_category(character)) && !isIn(kLaterCombining, character);
}

int unicodeScript(Character character) {
    const auto* const range =
        std::lower_bound(std::begin(kScripts), std::end(kScripts), character,
                         [](const ScriptRange& one, Character c) { return one.last < c; });
    return range != std::end(kScripts) && range->first <= character ? range->script : 0;
}

bool isNormalizedLater(Character character) {
    return isIn(kLaterNormalized, character);
}

bool isChinese(Character character) {
    static constexpr CharacterRange kBlocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                                 {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                                 {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    return isIn(kBlocks, character);
}

}  // namespace roper
