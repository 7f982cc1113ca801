#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/specification/specification.h"

namespace roper {

/// Resources that a run will need, estimated before it starts.
struct Cost {
    std::int64_t parameters = 0;
    double flop_per_step = 0;  ///< floating-point operations
    double memory_bytes = 0;   ///< peak of the trainer: an estimate, up to a third above measured values
    // Parts of the memory used by a step, an evaluation and a snapshot, which never overlap in time.
    double step_bytes = 0, evaluation_bytes = 0, snapshot_bytes = 0;
    double disk_bytes = 0;  ///< size of the run's folder at the end, including a checkpoint being written
};

/// Floating-point operations of a step, forward and backward: 6 per weight and token, plus 12·L·T²·C per
/// sequence for full attention in L layers of width C over T tokens.
double flopPerStep(const Specification& specification);

/// @throws std::invalid_argument if the task's settings contradict each other
Cost costOf(const Specification& specification);

/// Bytes of the weights of all layers in float32, without those whose size depends on the vocabulary: a lower
/// bound on the size of a checkpoint.
double minModelBytes(const Specification& specification);

/// Number of problems that an evaluation solves at once so that their memory, mostly keys and values, stays
/// within 2 GiB.
/// @param tokens  maximum number of tokens of a problem with its solution
std::int64_t problemsPerBatch(const Specification& specification, std::int64_t tokens);

/// Number of sequences of a batch that an evaluation reads at once within the same limit; most memory is for
/// logits.
std::int64_t sequencesPerBatch(const Specification& specification);

/// Why a run does not fit into this much memory, with numbers and what to change; nullopt if it fits.
std::optional<std::string> memoryProblem(const Specification& specification, double available_bytes);

/// Why an evaluation does not fit into this much memory even with one sequence at a time, with numbers and
/// what to change; nullopt if it fits.
std::optional<std::string> evaluationProblem(const Specification& specification, double available_bytes);

/// Why runs do not fit on a disk with this much space, with numbers and what to change; nullopt if they fit.
std::optional<std::string> diskProblem(const std::vector<Specification>& runs, double available_bytes);

/// Mean number of keys to which a token of a sequence of T tokens attends: a causal mask hides half of them.
double attendedKeys(const Specification& specification, double T);

/// Such as "600 thousand parameters, 39 GFLOP per step, about 0.7 GB of memory and 33 MB on disk"
std::string costText(const Cost& cost);

}  // namespace roper
