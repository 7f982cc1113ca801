#pragma once

#include <string>
#include <vector>

#include "app/command_help/command_table.h"

namespace roper {

const std::vector<std::string>& completionShells();

/// A script that completes the program's commands, options and values: choices, files, folders, names of
/// runs and presets, keys of settings. It calls roper-train whenever it needs names or keys.
/// @param shell  one of `completionShells`. @throws Error (usage)
std::string completionScript(const CommandDescription& program, const std::string& shell);

}  // namespace roper
