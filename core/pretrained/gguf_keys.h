#pragma once

#include <string>
#include <vector>

#include "core/pretrained/gguf_entries.h"

namespace roper {

/// Accounts for every entry of a file: one that may change what the model computes is obeyed elsewhere, or
/// refused here by its name.
/// @returns notes on entries that belong to nothing known, and are not read
/// @throws Error (checkpoint) naming the file and the entry
std::vector<std::string> accountForKeys(const GgufEntries& entries);

}  // namespace roper
