#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/specification/specification.h"
#include "core/training/step_profile.h"

namespace roper {

/// Times of one kind of work, in seconds, one after the other.
struct BenchTimes {
    std::vector<double> seconds;

    double median() const;
    double least() const;
    double greatest() const;
};

/// Times of whole training steps (batch, forward, backward, update) of a new model, after `warm_up` others:
/// at least `steps` of them, and as many more as fit into `least_seconds`, since a few short ones say little.
BenchTimes benchSteps(const Specification& specification, int steps, int warm_up = 2,
                      double least_seconds = 0);

/// The precisions that a specification's device computes in at its own speed: "fp32" and, where it multiplies
/// bfloat16 itself, "bf16"; only the one that `device.precision` asks for, if it does.
std::vector<std::string> precisionsOf(const Specification& specification);

/// What the whole device computes in one precision, floating-point operations a second.
struct MachineRates {
    double gemm = 0;  ///< product of two large matrices: on a CPU by oneDNN or LibTorch, whichever is faster
    double multiply_add = 0;  ///< the kernels' multiply-adds in registers; 0 on a GPU
};

/// Steps of several models interleaved, so that whatever else the machine does meets all of them alike.
struct StepBench {
    BenchTimes times;
    std::array<double, kStepParts> parts{};  ///< the median, divided by profiling further steps; CPU only
    MachineRates rates;                      ///< of its precision: medians of measurements in between
    std::vector<std::string> notes;          ///< what was not as it could be, for a person
};
/// @param before_round  called with the number of each round, from 0; may be empty
/// @return             one per specification
std::vector<StepBench> benchInterleaved(const std::vector<Specification>& specifications, int steps,
                                        int warm_up, const std::function<void(int)>& before_round = {});

/// The attention of one layer alone, forward and backward.
struct AttentionBench {
    BenchTimes kernel, plain;  ///< our kernel; LibTorch's operations
    double flop = 0;           ///< of forward and backward, what is hidden left out
    MachineRates rates;
};
AttentionBench benchAttention(const Specification& specification, int times);

/// Does one training step and says what a process took for it.
struct FirstStep {
    double seconds = 0;  ///< since the process was started
    double peak_bytes = 0;
};
FirstStep takeFirstStep(const Specification& specification);

/// What it takes to let an untrained model answer `evaluation.problems` problems of the longest answers
/// through the key/value cache.
struct GenerationBench {
    BenchTimes times;
    std::int64_t characters = 0;  ///< written each time
};
GenerationBench benchGeneration(const Specification& specification, int times);

}  // namespace roper
