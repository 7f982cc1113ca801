#include "core/tokenizers/characters.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace roper {
namespace {

static_assert(sizeof(Character) == sizeof(UChar32));

struct CharacterRange {
    Character first, last;
};

bool isIn(std::span<const CharacterRange> ranges, Character character) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const CharacterRange& range) {
        return character >= range.first && character <= range.last;
    });
}

/// Characters of Unicode 15 and 16 that Oniguruma (6.9.10) knows and PCRE2 (10.42) does not, and a stand-in
/// for each range.
struct NewerCharacters {
    Character first, last, stand_in;
};
constexpr NewerCharacters kNewerCharacters[] = {
#include "core/tokenizers/later_characters.inc"
};

/// Whether the character's general category is one of these (U_GC_…_MASK).
bool hasCategory(Character character, std::uint32_t mask) {
    return (U_GET_GC_MASK(character) & mask) != 0;
}

/// Whether this version of Unicode has the character.
bool isInVersion(int version, Character character) {
    UVersionInfo age;
    ::u_charAge(character, age);
    return age[0] > 0 && age[0] <= version;
}

}  // namespace

std::optional<Character> characterAt(std::string_view text, std::size_t begin) {
    const std::string_view bytes = text.substr(begin, U8_MAX_LENGTH);
    if (bytes.empty()) return std::nullopt;
    Character character = -1;
    int end = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // inside the macro
    U8_NEXT(bytes.data(), end, static_cast<int>(bytes.size()), character);
#pragma GCC diagnostic pop
    return character < 0 ? std::nullopt : std::optional(character);
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
    if (character < 0x80)
        text += static_cast<char>(character);
    else
        icu::UnicodeString(character).toUTF8String(text);
}

std::string lowerCaseOf(Character character) {
    // Pairs of Unicode 16 and 17, as in Rust's standard library; ICU may not know them yet.
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
    Character lower = ::u_tolower(character);
    for (const CasePairs& pairs : kCasePairsAfterUnicode15)
        if (character >= pairs.first && character <= pairs.last)
            lower = pairs.lower + character - pairs.first;
    append(lower, text);
    return text;
}

Character withoutNewer(Character character) {
    const auto* const range =
        std::lower_bound(std::begin(kNewerCharacters), std::end(kNewerCharacters), character,
                         [](const NewerCharacters& those, Character point) { return those.last < point; });
    return range != std::end(kNewerCharacters) && range->first <= character ? range->stand_in : character;
}

bool isWhiteSpace(Character character) {
    return ::u_isUWhiteSpace(character) != 0;
}

bool isWordCharacter(Character character) {
    character = withoutNewer(character);
    return ::u_isUAlphabetic(character) != 0 ||
           hasCategory(character, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) ||
           ::u_hasBinaryProperty(character, UCHAR_JOIN_CONTROL) != 0;
}

bool isOther(Character character) {
    return hasCategory(character, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK) && isInVersion(8, character);
}

bool isNonspacingMark(Character character) {
    if (character == 0x1734) return true;  // a spacing mark since Unicode 14
    // Letters and spacing marks until Unicode 9, 11 and 12.
    static constexpr CharacterRange kLater[] = {{0x1885, 0x1886}, {0xA9BD, 0xA9BD}, {0x111C9, 0x111C9}};
    return hasCategory(character, U_GC_MN_MASK) && isInVersion(8, character) && !isIn(kLater, character);
}

bool isCombiningMark(Character character) {
    if (character == 0x1CF2 || character == 0x1CF3) return true;  // letters since Unicode 12
    if (character == 0x111C9) return false;                       // punctuation until Unicode 11
    return hasCategory(character, U_GC_M_MASK) && isInVersion(9, character);
}

std::optional<int> unicodeScript(Character character) {
    if (character == ' ' || !isInVersion(9, character)) return std::nullopt;
    // Scripts that later versions of Unicode changed.
    if (character == 0x589 || character == 0x61C) return USCRIPT_COMMON;
    if (character == 0x953 || character == 0x954) return USCRIPT_DEVANAGARI;
    if (character == 0x30FC) return USCRIPT_HAN;
    UErrorCode error = U_ZERO_ERROR;
    const UScriptCode script = ::uscript_getScript(character, &error);
    if (script == USCRIPT_UNKNOWN) return std::nullopt;
    return script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ? USCRIPT_HAN : script;
}

bool isChinese(Character character) {
    static constexpr CharacterRange kBlocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                                 {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                                 {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    return isIn(kBlocks, character);
}

}  // namespace roper
