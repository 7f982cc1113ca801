#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/specification/specification.h"

namespace roper {

/// What a run will take, known before it starts.
struct Cost {
    std::int64_t parameters = 0;
    double flop_a_step =
        0;  ///< forward and backward: 6 a weight and token, 12·L·T²·C a sequence for full attention
    double memory_bytes =
        0;  ///< of the trainer at its largest: an estimate, up to a third above what was measured
};

/// @throws std::invalid_argument if the task's settings contradict each other
Cost costOf(const Specification& specification);

/// Bytes of memory that programs may still take on this machine; nothing if the system does not say.
std::optional<double> availableMemory();

/// "0.60 million parameters, 39 GFLOP per step, about 0.7 GB of memory"
std::string costText(const Cost& cost);

}  // namespace roper
