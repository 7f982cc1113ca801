#pragma once

#include <cstdint>
#include <optional>

#include "core/specification/specification.h"

namespace roper {

/// Bytes of memory that are free on the device that such a run trains on; nothing if the system does not say.
std::optional<double> freeMemoryFor(const Specification& specification);

/// Refuses what is too much for this machine before anything is made of it.
/// @throws Error (memory) with the estimate, what is free and what to change
void requireMemory(const Specification& specification);

/// @throws Error (usage) for more processes than a batch has sequences
void requireShares(const Specification& specification, std::int64_t processes);

}  // namespace roper
