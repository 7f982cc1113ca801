#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/specification/specification.h"
#include "core/training/step_profile.h"

namespace roper {

/// Times of repeated runs of the same work, in seconds.
struct BenchTimes {
    std::vector<double> seconds;

    double median() const;
    double minimum() const;
    double maximum() const;
};

/// Median time in seconds of a whole training step (batch, forward, backward, update) of a new model, after
/// an untimed one: of three, and of more until `min_seconds` have passed, because a few short steps are not
/// reliable.
double benchStepSeconds(const Specification& specification, double min_seconds = 0);

/// The precisions that the specification's device supports natively: "fp32" and, if it multiplies bfloat16 in
/// hardware, "bf16"; only one if `device.precision` requires it.
std::vector<std::string> nativePrecisions(const Specification& specification);

/// Throughput of the whole device in one precision, in floating-point operations (FLOP) per second.
struct MachineRates {
    double gemm = 0;          ///< product of two large matrices; on a CPU the faster of oneDNN and LibTorch
    double multiply_add = 0;  ///< multiply-adds of our kernels in registers; 0 on a GPU
};

/// Steps of several models, interleaved so that other load on the machine affects all of them alike.
struct StepBench {
    BenchTimes times;
    /// Seconds of the median step by `StepCategory`, according to profiled further steps; on a GPU all 0.
    std::array<double, kStepCategories> parts{};
    MachineRates rates;              ///< in the model's precision: medians of measurements between rounds
    std::vector<std::string> notes;  ///< warnings for the user about suboptimal conditions
};
/// @param before_round  called with the index of each round, from 0; may be empty
/// @returns one per specification
std::vector<StepBench> benchInterleaved(const std::vector<Specification>& specifications, int steps,
                                        int warm_up, const std::function<void(int)>& before_round = {});

/// Attention of a single layer, forward and backward.
struct AttentionBench {
    BenchTimes kernel, plain;  ///< by our kernel, and by LibTorch's operations
    double flop = 0;           ///< of forward and backward, without masked keys
    MachineRates rates;
};
AttentionBench benchAttention(const Specification& specification, int times);

/// Takes one training step and measures what the process needed for it.
struct FirstStepCost {
    double seconds = 0;  ///< since the start of the process
    double peak_bytes = 0;
};
FirstStepCost measureFirstStep(const Specification& specification);

/// Generation with an untrained model and the key/value cache: continues the prompts of `evaluation.problems`
/// problems by the length of the longest answer.
struct GenerationBench {
    BenchTimes times;
    std::int64_t characters = 0;  ///< generated each time
};
GenerationBench benchGeneration(const Specification& specification, int times);

}  // namespace roper
