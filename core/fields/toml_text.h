#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <string_view>

namespace roper {

/// @throws Error (usage) that begins with the position: "origin:line:column: "
[[noreturn]] void refuseToml(const std::string& origin, const toml::source_region& source,
                             const std::string& what);

/// The text of a node. @throws Error (usage) naming the key if the node is not a string
std::string readTomlText(const toml::node& node, const std::string& origin, const std::string& key);

/// A value as it is written after "=" on the command line; empty for lists and sections.
std::optional<std::string> settingText(const toml::node& node);

/// Parses untrusted TOML.
/// @param origin  name of the text in errors, usually its path
/// @throws Error (usage) with origin:line:column; also for texts longer than 8 MB, and for names nested so
/// deeply that the library's recursion would exhaust the stack
toml::table parseToml(std::string_view text, const std::string& origin);

/// A text as a TOML string in double quotes, on one line and with control characters escaped.
std::string quotedToml(const std::string& text);

}  // namespace roper
