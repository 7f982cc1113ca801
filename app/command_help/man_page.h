#pragma once

#include <string>

#include "app/command_help/command_table.h"

namespace roper {

/// A manual page in the language of man(7): every command with its options, exit codes and variables.
/// @param version  of the program
std::string manPage(const CommandDescription& program, const std::string& version);

}  // namespace roper
