#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/training/batch_stream.h"
#include "core/training/step.h"

namespace roper {

/// Takes the steps of a training, one after the other.
class Stepper {
  public:
    virtual ~Stepper() = default;

    /// How many steps may be submitted at once.
    virtual std::int64_t mostAtOnce() const = 0;

    /// Takes `count` more steps, or has the device take them in its own time.
    /// @return  what finished steps found that was not returned before, oldest first
    virtual std::vector<StepNumbers> advance(std::int64_t count) = 0;

    /// Waits for all submitted steps. → as `advance`
    virtual std::vector<StepNumbers> finish() = 0;

    /// What is particular about how steps are taken: a line for the run's log, or nothing.
    virtual std::string note() const { return {}; }
};

/// What a stepper trains, and on what; all of it must outlive the stepper.
struct Training {
    Transformer& model;
    AdamW& optimizer;
    BatchStream& batches;
    const Specification& specification;
    at::Device device;
    GradientSum* together = nullptr;  ///< where several processes train together
    int rank = 0;                     ///< of this one among them
};

/// Steps that are each finished when `advance` returns; on a GPU, also a pretended one, that trains by
/// itself, a `QueuedStepper`.
/// @param steps_done  by an earlier part of the run
std::unique_ptr<Stepper> makeStepper(const Training& training, std::int64_t steps_done);

}  // namespace roper
