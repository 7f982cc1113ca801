#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/specification/specification.h"

namespace roper {

/// What a run will take, known before it starts.
struct Cost {
    std::int64_t parameters = 0;
    double flop_a_step =
        0;  ///< forward and backward: 6 a weight and token, 12·L·T²·C a sequence for full attention
    double memory_bytes =
        0;  ///< of the trainer at its largest: an estimate, up to a third above what was measured
    // What of that is taken by a step, an evaluation and a snapshot: never at the same time.
    double step_bytes = 0, evaluation_bytes = 0, snapshot_bytes = 0;
    double disk_bytes = 0;  ///< of the run's folder at its end, with a checkpoint that is being written
};

/// @throws std::invalid_argument if the task's settings contradict each other
Cost costOf(const Specification& specification);

/// Bytes that the weights of a model's layers take in float32, without those that depend on a vocabulary: no
/// checkpoint of it is smaller.
double leastBytesOfModel(const Specification& specification);

/// How many problems an evaluation solves at a time, so that what it keeps of them, keys and values above
/// all, stays within 2 GiB.
/// @param tokens  of a problem with its solution, at most
std::int64_t problemsAtOnce(const Specification& specification, std::int64_t tokens);

/// How many sequences of a batch an evaluation reads at a time, within as much memory: logits above all.
std::int64_t sequencesAtOnce(const Specification& specification);

/// Why a run would not fit into so much memory, with numbers and what to change; nothing if it does.
std::optional<std::string> memoryProblem(const Specification& specification, double available_bytes);

/// Why the sequences of an evaluation would not fit into so much memory, one at a time, with numbers and what
/// to change; nothing if they do.
std::optional<std::string> evaluationProblem(const Specification& specification, double available_bytes);

/// Why runs would fill a disk with so much room, with numbers and what to change; nothing if they fit.
std::optional<std::string> diskProblem(const std::vector<Specification>& runs, double available_bytes);

/// "600 thousand parameters, 39 GFLOP a step, about 0.7 GB of memory and 33 MB on disk"
std::string costText(const Cost& cost);

}  // namespace roper
