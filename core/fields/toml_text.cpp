// With assertions enabled, the library aborts on "[!a]", an ordinary mistake in a file. This assertion throws
// instead, so that parseToml reports the same error as without assertions.
#include <stdexcept>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wterminate"  // nothing else is possible inside its noexcept functions
#endif
#define TOML_ASSERT(expression) (static_cast<bool>(expression) ? void(0) : throw std::logic_error("not TOML"))

#include "core/fields/toml_text.h"

#include <algorithm>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// The text before the '=' of a line, or within the brackets of a section.
std::string_view nameOf(std::string_view line) {
    return line.substr(0, line.find('='));
}

void requireShallow(std::string_view text, const std::string& origin) {
    constexpr std::ptrdiff_t kMaxDepth = 256;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view name = nameOf(text.substr(0, end));
        if (std::ranges::count(name, '.') > kMaxDepth)
            throw Error(ErrorKind::usage, origin + ":" + std::to_string(number) +
                                              ":1: names nested more than " + std::to_string(kMaxDepth) +
                                              " deep");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

void refuseToml(const std::string& origin, const toml::source_region& source, const std::string& what) {
    throw Error(ErrorKind::usage, origin + ":" + std::to_string(source.begin.line) + ":" +
                                      std::to_string(source.begin.column) + ": " + what);
}

std::string readTomlText(const toml::node& node, const std::string& origin, const std::string& key) {
    const auto value = node.value_exact<std::string>();
    if (!value) refuseToml(origin, node.source(), key + " must be text in quotes");
    return *value;
}

std::optional<std::string> settingText(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto integer = node.value_exact<std::int64_t>()) return std::to_string(*integer);
    if (const auto real = node.value_exact<double>()) return formatNumber(*real);
    if (const auto flag = node.value_exact<bool>()) return *flag ? "1" : "0";
    return std::nullopt;
}

toml::table parseToml(std::string_view text, const std::string& origin) {
    constexpr std::size_t kLongest = 8'000'000;  // values take forty times as much memory as their text
    if (text.size() > kLongest)
        throw Error(ErrorKind::usage, origin + " is larger than 8 MB, the limit for such a file");
    requireShallow(text, origin);
    try {
        return toml::parse(text, origin);
    } catch (const toml::parse_error& error) {
        refuseToml(origin, error.source(), std::string(error.description()));
    } catch (const std::logic_error& error) {
        throw Error(ErrorKind::usage, origin + ": " + error.what());
    }
}

std::string quotedToml(const std::string& text) {
    std::ostringstream stream;
    const auto flags = toml::toml_formatter::default_flags & ~toml::format_flags::allow_literal_strings &
                       ~toml::format_flags::allow_multi_line_strings;
    stream << toml::toml_formatter(toml::value<std::string>(text), flags);
    return escapeControlCharacters(stream.str());
}

}  // namespace roper
