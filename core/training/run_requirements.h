#pragma once

#include <cstdint>
#include <optional>

#include "core/specification/specification.h"

namespace roper {

/// Bytes of free memory on the device for training; empty if the system does not report it.
std::optional<double> freeMemoryFor(const Specification& specification);

/// Checks the memory requirements before anything is allocated.
/// @throws Error (memory) with the estimate, the free memory and what to change
void requireMemory(const Specification& specification);

/// @throws Error (usage) if there are more processes than sequences in a batch
void requireSequencePerProcess(const Specification& specification, std::int64_t processes);

}  // namespace roper
