#pragma once

#include <string>
#include <vector>

#include "app/command_help/command_table.h"

namespace roper {

const std::vector<std::string>& completionShells();

/// A script that completes the program's commands, options, and the values that it knows: choices, files and
/// folders, names of runs and presets, keys of settings. Names are asked of roper-train while the person
/// types.
/// @param shell  one of `completionShells`. @throws Error (usage)
std::string completionScript(const CommandDescription& program, const std::string& shell);

}  // namespace roper
