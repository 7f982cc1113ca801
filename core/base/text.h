#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// The shortest decimal that reads back as the same number; "nan", "inf" and "-inf" as such, in any locale.
std::string formatNumber(double value);

/// The same rounded to so many significant digits: "0.0213", "124.3", "1e-07"; a larger number to a whole
/// one: "125000".
std::string formatRounded(double value, int significant);

/// With so many decimals: "11.95".
std::string formatFixed(double value, int decimals);

/// A whole text read as a number, in any locale. Nothing if any character is left over.
std::optional<double> parseNumber(std::string_view text);
std::optional<long long> parseInteger(std::string_view text);

/// Whole numbers of 0 or more, and ranges of them: "0-4", "3", "1,5,9". Nothing for another text, or for more
/// than 10,000 numbers.
std::optional<std::vector<std::int64_t>> parseIntegers(std::string_view text);

/// Three digits with the unit that fits: {"bytes", "kB", "MB"} and 195e6 give "195 MB". Units are a thousand
/// apart.
std::string scaledText(double value, const std::vector<std::string>& units);

/// "195 MB", "1.2 TB".
std::string bytesText(double bytes);

/// "1 run", "3 runs".
std::string countOf(std::size_t count, const std::string& noun);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trimmed(std::string_view text);

/// With small letters of ASCII in place of capitals.
std::string lowerCase(std::string_view text);

/// Where a text stops being UTF-8 (RFC 3629): the place of the first wrong byte, or npos. A character that is
/// cut off at the end counts as wrong.
std::size_t firstNotUtf8(std::string_view text);

/// The text without characters that control a terminal or turn the direction of writing: they become blanks,
/// and bytes that are not UTF-8 question marks. Line ends and tabs stay.
std::string withoutControls(std::string_view text);

/// The same on one line: line ends and tabs are blanks, too. What comes from a file is then safe in a log.
std::string onOneLine(std::string_view text);

/// The same as a cell of a table in Markdown.
std::string markdownCell(std::string_view text);

/// The same characters as \uXXXX, as JSON and TOML have them in quotes: a text in one of these forms then
/// tells the same and controls no terminal. Line ends and tabs, which stand between values, stay.
std::string escapedControls(std::string_view text);

/// Bytes up to the last character that has come whole; what is no UTF-8 at all counts as whole.
std::size_t wholeCharacters(std::string_view text);

/// The beginning of a text that is longer than so many bytes, up to a whole character and with "…"; any other
/// as it is.
std::string shortened(std::string_view text, std::size_t most);

/// The longest message that is shown to a person, in bytes. What is longer quotes a file.
inline constexpr std::size_t kLongestMessageText = 1000;

/// What a JSON parser's exception says, without its own number of the error.
std::string jsonProblem(std::string_view what);

/// What an error quotes of a file: the beginning, in quotation marks, if it is long.
std::string quotedBeginning(std::string_view text);

/// The candidate with the smallest edit distance to `word`, if it is near enough to be what was meant.
std::optional<std::string> nearestName(std::string_view word, const std::vector<std::string>& candidates);

/// What a message says after a name that is not known: "did you mean "rope"?", else "known are rope, roper".
std::string nameHint(std::string_view word, const std::vector<std::string>& known);

}  // namespace roper
