#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

namespace roper {
namespace {

/// Levenshtein distance: insertions, deletions and substitutions of single characters.
std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row.back();
}

/// Length in bytes of a UTF-8 character, from its first byte; 0 for an invalid first byte.
std::size_t characterLength(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/// Whether the second byte may follow the first: not overlong, no surrogate, not beyond U+10FFFF.
bool mayFollow(unsigned char first, unsigned char second) {
    const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

/// Whether a character affects how others are displayed: C0 and C1 controls, DEL, line and paragraph
/// separators, and those that change the writing direction.
bool isControl(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
    if (character.size() == 2)
        return (byte(0) == 0xC2 && byte(1) < 0xA0) || (byte(0) == 0xD8 && byte(1) == 0x9C);
    if (character.size() != 3 || byte(0) != 0xE2) return false;
    const auto third = [&](unsigned char first, unsigned char last) {
        return byte(2) >= first && byte(2) <= last;
    };
    return (byte(1) == 0x80 && (third(0x8E, 0x8F) || third(0xA8, 0xAE))) ||
           (byte(1) == 0x81 && third(0xA6, 0xA9));
}

template <class Number>
std::optional<Number> parseWhole(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return value;
}

}  // namespace

std::string formatNumber(double value) {
    if (std::isnan(value)) return "nan";
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, result.ptr};
}

std::string formatRounded(double value, int significant) {
    if (std::isnan(value)) return "nan";
    // 125000 is easier to read than 1.25e+05.
    constexpr double kLongest = 1e15;
    const double size = std::abs(value);
    if (size >= std::pow(10.0, significant) && size < kLongest) return formatFixed(value, 0);
    char buffer[64];
    const auto result =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, significant);
    return {buffer, result.ptr};
}

std::string formatFixed(double value, int decimals) {
    char buffer[400];  // the largest double has 309 digits before the point
    const auto result =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals);
    return {buffer, result.ptr};
}

std::optional<double> parseNumber(std::string_view text) {
    return parseWhole<double>(text);
}

std::optional<long long> parseInteger(std::string_view text) {
    return parseWhole<long long>(text);
}

std::optional<std::vector<std::int64_t>> parseIntegers(std::string_view text) {
    constexpr long long kMax = 10000;
    std::vector<std::int64_t> numbers;
    for (const std::string& part : split(text, ',')) {
        const std::size_t dash = part.find('-', 1);
        const auto first = parseInteger(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : parseInteger(part.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
        const long long more = *last - *first;
        if (more >= kMax - std::ssize(numbers)) return std::nullopt;
        for (long long i = 0; i <= more; ++i)
            numbers.push_back(*first + i);
    }
    return numbers;
}

std::string formatWithUnit(double value, const std::vector<std::string>& units) {
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    const double digits = value >= 99.5 ? 1 : value >= 9.95 ? 10 : 100;
    return formatNumber(std::round(value * digits) / digits) + " " + units[unit];
}

std::string formatBytes(double bytes) {
    return formatWithUnit(bytes, {"bytes", "kB", "MB", "GB", "TB", "PB"});
}

std::string countOf(std::size_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t at = text.find(separator);
        parts.emplace_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) text += separator;
        text += parts[i];
    }
    return text;
}

std::string csvLine(const std::vector<std::string>& cells) {
    return join(cells, ",") + "\n";
}

std::string markdownRow(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) {
        row += ' ';
        for (const char c : toSingleLine(cell)) {
            if (c == '|') row += '\\';
            row += c;
        }
        row += " |";
    }
    return row + "\n";
}

std::string markdownRule(std::size_t columns) {
    std::string rule = "|";
    for (std::size_t i = 0; i < columns; ++i)
        rule += "---|";
    return rule + "\n";
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

std::string lowerCase(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

std::size_t findInvalidUtf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t length = characterLength(first);
        if (length == 0 || at + length > text.size()) return at;
        for (std::size_t i = 1; i < length; ++i) {
            const auto byte = static_cast<unsigned char>(text[at + i]);
            const bool fits = i == 1 ? mayFollow(first, byte) : (byte & 0xC0U) == 0x80;
            if (!fits) return at;
        }
        at += length;
    }
    return std::string_view::npos;
}

namespace {

/// Replacement for a control character, or an invalid byte.
using Replacement = std::string (*)(std::string_view character);

std::string blankFor(std::string_view) {
    return " ";
}

/// The character must be at most U+FFFF, as all control characters are.
std::string escapeFor(std::string_view character) {
    std::uint32_t code = static_cast<unsigned char>(character[0]);
    if (character.size() == 2) code &= 0x1FU;
    if (character.size() == 3) code &= 0x0FU;
    for (const char c : character.substr(1))
        code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string escaped = "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U})
        escaped += kDigits[(code >> shift) & 15U];
    return escaped;
}

std::string cleaned(std::string_view text, std::string_view allowed, Replacement replacement = blankFor) {
    std::string line;
    line.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = characterLength(static_cast<unsigned char>(text[0]));
        const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
        if (length == 0 || findInvalidUtf8(character) != std::string_view::npos) {
            line += '?';
            text.remove_prefix(1);
            continue;
        }
        if (isControl(character) && allowed.find(character) == std::string_view::npos)
            line += replacement(character);
        else
            line += character;
        text.remove_prefix(character.size());
    }
    return line;
}

}  // namespace

std::string replaceControlCharacters(std::string_view text) {
    return cleaned(text, "\n\t");
}

std::string toSingleLine(std::string_view text) {
    return cleaned(text, {});
}

std::string escapeControlCharacters(std::string_view text) {
    return cleaned(text, "\n\t", escapeFor);
}

std::size_t completeUtf8Length(std::string_view text) {
    constexpr std::size_t kLongestBeginning = 3;
    for (std::size_t back = 1; back <= std::min(kLongestBeginning, text.size()); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xC0U) == 0x80) continue;  // within a character
        return characterLength(byte) > back ? text.size() - back : text.size();
    }
    return text.size();
}

std::string jsonErrorMessage(std::string_view what) {
    if (what.starts_with("[json.exception."))
        if (const std::size_t end = what.find("] "); end != std::string_view::npos)
            what.remove_prefix(end + 2);
    return std::string(what);
}

std::string quoteExcerpt(std::string_view text) {
    constexpr std::size_t kMax = 200;
    if (text.size() <= kMax) return "\"" + std::string(text) + "\"";
    return "\"" + truncateText(text, kMax) + "\" (" + std::to_string(text.size()) + " bytes)";
}

std::string truncateText(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return std::string(text);
    const std::string_view beginning = text.substr(0, max_bytes);
    return std::string(beginning.substr(0, completeUtf8Length(beginning))) + "…";
}

std::optional<std::string> closestName(std::string_view word, const std::vector<std::string>& candidates) {
    std::optional<std::string> nearest;
    std::size_t least = word.size() / 2 + 2;
    for (const std::string& candidate : candidates) {
        const std::size_t longer = std::max(word.size(), candidate.size());
        // lower bound of the distance
        if (longer - std::min(word.size(), candidate.size()) >= least) continue;
        const std::size_t distance = editDistance(word, candidate);
        if (distance < least) {
            least = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string nameHint(std::string_view word, const std::vector<std::string>& known) {
    const auto nearest = closestName(word, known);
    return nearest ? "did you mean \"" + *nearest + "\"?" : "expected one of " + join(known, ", ");
}

}  // namespace roper
