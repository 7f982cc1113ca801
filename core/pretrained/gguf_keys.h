#pragma once

#include <string>
#include <vector>

#include "core/pretrained/gguf_entries.h"

namespace roper {

/// Checks every entry of a file: an entry that may change what the model computes is either applied elsewhere
/// or refused here.
/// @returns notes on unknown entries, which are ignored
/// @throws Error (checkpoint) naming the file and the entry
std::vector<std::string> checkKeys(const GgufEntries& entries);

}  // namespace roper
