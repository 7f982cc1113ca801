#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/roper_train/look_commands.h"

namespace roper {

/// Whether --layer and --head choose this head.
bool isWanted(const LookOptions& options, std::int64_t layer, std::int64_t head);

/// Prints the answers of kinds that show heads, a line for every head that is wanted or for each of its
/// parts, by the name of the kind.
extern const std::map<std::string, PrintAnswer> kHeadPrinters;

}  // namespace roper
