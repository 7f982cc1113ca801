#pragma once

#include <string>
#include <vector>

#include "app/command_help/command_table.h"

namespace roper {

/// The text in single quotes, for sh, bash and zsh.
std::string shellQuoted(const std::string& text);

/// The shells for which there are completion scripts.
const std::vector<std::string>& completionShells();

/// A script that completes the program's commands, options and values: choices, files, folders, names of
/// runs and presets, keys of settings. It calls roper-train whenever it needs names or keys.
/// @param shell  one of `completionShells`. @throws Error (usage)
std::string completionScript(const CommandDescription& program, const std::string& shell);

/// A manual page in man(7) format: all commands with their options, exit codes and environment variables.
/// @param version  of the program
std::string manPage(const CommandDescription& program, const std::string& version);

}  // namespace roper
