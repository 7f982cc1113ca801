#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roper {

/// A code point, 0 … 0x10FFFF.
using Character = std::int32_t;

/// The character whose UTF-8 encoding begins at byte `begin`; nothing at the end of the text.
std::optional<Character> characterAt(std::string_view text, std::size_t begin);

/// First byte of the character that ends before byte `end` (> 0).
std::size_t previousCharacterBegin(std::string_view text, std::size_t end);

/// The character that ends before byte `end`; nothing at the beginning of the text.
std::optional<Character> characterBefore(std::string_view text, std::size_t end);

void append(Character character, std::string& text);

/// The character in lower case, which may be two characters, or itself.
std::string lowerCaseOf(Character character);

/// The property White_Space.
bool isWhiteSpace(Character character);

/// A character of the same category and number of bytes that Unicode 15 has, for one that Unicode 16 added;
/// otherwise the character itself.
Character withoutNewer(Character character);

/// A word character of Unicode's regular expressions (UTS #18, annex C): alphabetic, mark, decimal digit,
/// connector punctuation or joiner.
bool isWordCharacter(Character character);

// What Hugging Face's tokenizers (0.23.3) count as such, by older versions of Unicode than their patterns
// use.

/// A character without a graphic: control, format or private use (Unicode 8).
bool isOther(Character character);
/// A mark without a width of its own, such as an accent (Unicode 8).
bool isNonspacingMark(Character character);
/// Any mark, for StripAccents (Unicode 9).
bool isCombiningMark(Character character);

/// The script (a UScriptCode of ICU) by which the pre-tokenizer UnicodeScripts splits (Unicode 9, Hiragana
/// and Katakana as Han); nothing for a character that never splits.
std::optional<int> unicodeScript(Character character);

/// BERT's blocks of Chinese characters, of which the extensions from 2B820 to 2B91F are no part.
bool isChinese(Character character);

}  // namespace roper
