#pragma once

#include <string>

#include "app/command_help/command_table.h"

namespace roper {

/// A manual page in man(7) format: all commands with their options, exit codes and environment variables.
/// @param version  of the program
std::string manPage(const CommandDescription& program, const std::string& version);

}  // namespace roper
