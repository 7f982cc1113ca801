#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// The shortest decimal representation that reads back as the same number; "nan", "inf" and "-inf" for these,
/// in any locale.
std::string formatNumber(double value);

/// The number rounded to this many significant digits: "0.0213", "124.3", "1e-07"; larger numbers to an
/// integer: "125000".
std::string formatRounded(double value, int significant);

/// With a fixed number of decimals: "11.95".
std::string formatFixed(double value, int decimals);

/// Parses a whole text as a number, in any locale. Empty if any character is left over.
std::optional<double> parseNumber(std::string_view text);
std::optional<long long> parseInteger(std::string_view text);

/// Parses non-negative integers and ranges of them: "0-4", "3", "1,5,9". Empty for any other text, or for
/// more than 10,000 numbers.
std::optional<std::vector<std::int64_t>> parseIntegers(std::string_view text);

/// Rounded to three digits, with the largest fitting unit: {"bytes", "kB", "MB"} and 195e6 give "195 MB".
/// Each unit is 1000 times the previous one.
std::string formatWithUnit(double value, const std::vector<std::string>& units);
inline const std::vector<std::string> kUnitsOfCounts = {"", "thousand", "million", "billion", "trillion"};

/// "195 MB", "1.2 TB".
std::string formatBytes(double bytes);

/// "1 run", "3 runs".
std::string countOf(std::size_t count, const std::string& noun);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Cells, which the caller has quoted if they contain commas, as a line of CSV with its newline.
std::string csvLine(const std::vector<std::string>& cells);

/// Cells as a row of a Markdown table with its newline. Each cell becomes one line, and "|" is escaped.
std::string markdownRow(const std::vector<std::string>& cells);

/// The line between the head of a Markdown table and its rows.
std::string markdownRule(std::size_t columns);

/// The result of a function, or the value of a member, for each element of a range.
template <class Range, class Of>
auto mapped(const Range& range, Of of) {
    std::vector<std::decay_t<std::invoke_result_t<Of&, decltype(*std::begin(range))>>> results;
    if constexpr (requires { range.size(); }) results.reserve(static_cast<std::size_t>(range.size()));
    for (const auto& element : range)
        results.push_back(std::invoke(of, element));
    return results;
}

/// The elements of several lists, one list after another.
template <class Element>
std::vector<Element> concatenated(const std::vector<std::vector<Element>>& lists) {
    std::vector<Element> all;
    for (const std::vector<Element>& list : lists)
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

/// Whether an element of a range equals a value.
template <class Range, class Value>
bool hasElement(const Range& range, const Value& value) {
    return std::ranges::find(range, value) != std::ranges::end(range);
}

std::string trimmed(std::string_view text);

/// Converts ASCII capitals to lower case.
std::string lowerCase(std::string_view text);

/// Offset of the first byte that is not valid UTF-8 (RFC 3629), or npos. A character truncated at the end
/// counts as invalid.
std::size_t findInvalidUtf8(std::string_view text);

/// The text without characters that control a terminal or change the writing direction: they become blanks,
/// and invalid UTF-8 bytes become question marks. Newlines and tabs are kept.
std::string replaceControlCharacters(std::string_view text);

/// The same on one line: newlines and tabs become blanks, too. Makes text from files safe for logs.
std::string toSingleLine(std::string_view text);

/// Escapes the characters that `replaceControlCharacters` replaces as \uXXXX, valid inside quotes in JSON and
/// TOML: the meaning of such a text is unchanged, and it does not control a terminal. Newlines and tabs,
/// which separate values, are kept.
std::string escapeControlCharacters(std::string_view text);

/// Number of bytes up to the last complete character; invalid UTF-8 counts as complete.
std::size_t completeUtf8Length(std::string_view text);

/// The beginning of a text longer than `max_bytes` bytes, cut after a complete character and followed by "…";
/// a shorter text is returned unchanged.
std::string truncateText(std::string_view text, std::size_t max_bytes);

/// Maximal length of a message shown to the user, in bytes. Longer ones, which quote a file, are cut.
inline constexpr std::size_t kMaxMessageBytes = 1000;

/// The message of a JSON parser's exception, without its error number.
std::string jsonErrorMessage(std::string_view what);

/// Text from a file quoted for an error: in quotation marks, only the beginning if it is long.
std::string quoteExcerpt(std::string_view text);

/// The candidate with the smallest edit distance to `word`, if it is near enough to be plausible.
std::optional<std::string> closestName(std::string_view word, const std::vector<std::string>& candidates);

/// Addition to a message about an unknown name: "did you mean "rope"?", else "expected one of rope, roper".
std::string nameHint(std::string_view word, const std::vector<std::string>& known);

}  // namespace roper
