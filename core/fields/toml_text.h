#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace roper {

/// "origin:line:column: ", as errors about a place in a TOML text begin.
std::string tomlPlace(const std::string& origin, const toml::source_region& source);

/// @throws Error (usage) that says where, and what is wrong there
[[noreturn]] void refuseToml(const std::string& origin, const toml::source_region& source,
                             const std::string& what);

/// The text of a node. @throws Error (usage) that names the key if it is none
std::string readTomlText(const toml::node& node, const std::string& origin, const std::string& key);

/// Reads a TOML text, from wherever it may come.
/// @param origin  how errors name the text: usually its path
/// @throws Error (usage) with origin:line:column, also for a text longer than 8 MB, and for names nested
///         so deeply that the library's own recursion would exhaust the stack
toml::table parseToml(std::string_view text, const std::string& origin);

/// "…" on one line, whatever it holds, and without a character that controls a terminal: the plainest form
/// for other programs to read.
std::string quotedToml(const std::string& text);

}  // namespace roper
