#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/training/batch_stream.h"
#include "core/training/step.h"

namespace roper {

/// Takes the steps of a training run in order.
class Stepper {
  public:
    virtual ~Stepper() = default;

    /// Maximum number of steps that can be submitted at once.
    virtual std::int64_t maxStepsPerSubmission() const = 0;

    /// Takes `count` more steps, or submits them to run asynchronously on the device.
    /// @returns results of finished steps not returned before, oldest first
    virtual std::vector<StepResult> advance(std::int64_t count) = 0;

    /// Waits for all submitted steps. @returns the same as `advance`
    virtual std::vector<StepResult> finish() = 0;

    /// A note for the run's log on how steps are executed, or empty.
    virtual std::string note() const { return {}; }
};

/// Inputs of a stepper; they must outlive it.
struct StepperContext {
    Transformer& model;
    AdamW& optimizer;
    BatchStream& batches;
    const Specification& specification;
    at::Device device;
    GradientReducer* reducer = nullptr;  ///< for data-parallel training
    int rank = 0;                        ///< of this process
};

/// A `QueuedStepper` on a GPU (or the tests' fake one) if a single process trains the run; otherwise a
/// stepper whose steps are finished when `advance` returns.
/// @param steps_done  number of steps already trained
std::unique_ptr<Stepper> makeStepper(const StepperContext& training, std::int64_t steps_done);

/// During its lifetime, GPU operations of this thread use a separate stream: the default stream cannot be
/// captured (Gpu::capture), and other streams would not wait for it. On the CPU it does nothing.
class DedicatedStream {
  public:
    explicit DedicatedStream(const c10::Device& device) {
        if (device.is_cpu()) return;
        guard_.emplace(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device));
    }

  private:
    std::optional<c10::StreamGuard> guard_;
};

}  // namespace roper
