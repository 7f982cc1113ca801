#pragma once

#include <c10/core/Event.h>

#include <chrono>
#include <optional>

#include "core/operators/gpu.h"
#include "core/training/stepper.h"

namespace roper {

/// Steps that run asynchronously on a device. Batches are copied to it several at a time and selected by a
/// counter on the device; losses and norms go to a ring buffer on the device, copied back several at a time.
/// Each array has two halves used alternately, so that the device never waits for this program. With `gpu()`
/// a whole step, from batch to update, is captured once (as a CUDA graph) and replayed.
///
/// Nothing requires a GPU: on a CPU it does the same, for tests.
class QueuedStepper final : public Stepper {
  public:
    static constexpr std::int64_t kMaxStepsPerSubmission = 50;

    QueuedStepper(const StepperContext& training, std::int64_t steps_done);
    ~QueuedStepper() override;

    /// Number of steps that take about a quarter of a second, but at most `kMaxStepsPerSubmission`.
    std::int64_t maxStepsPerSubmission() const override { return max_steps_per_submission_; }
    std::vector<StepResult> advance(std::int64_t count) override;
    std::vector<StepResult> finish() override;

    /// Why steps are not captured, although they should be; empty if they are.
    std::string note() const override { return note_; }

  private:
    using Clock = std::chrono::steady_clock;

    /// Submitted steps whose losses have not been read.
    struct SubmittedSteps {
        std::int64_t first_step, count, half;  ///< half of the arrays: 0 or 1
        std::optional<c10::Event> done;        ///< nullopt on a CPU
    };

    void load(std::int64_t count, std::int64_t half);
    void submitStep();
    void stepOnDevice();

    StepperContext training_;
    at::Tensor host_inputs_, host_targets_;  ///< [2 · kMaxStepsPerSubmission, B, T]
    at::Tensor inputs_, targets_;            ///< the same on the device
    at::Tensor results_, host_results_;      ///< loss and gradient norm: [2 · kMaxStepsPerSubmission, 2]
    at::Tensor rates_;                       ///< learning rate of each step, from step 1 on: [steps + 1]
    at::Tensor step_, slot_;  ///< on the device: [1]; the step's number, its index in the arrays
    std::int64_t submitted_;  ///< number of steps, including those of earlier sessions
    std::int64_t half_ = 0, max_steps_per_submission_ = 1;
    std::optional<SubmittedSteps> in_flight_;
    Clock::time_point last_finish_;

    int warmup_steps_done_ = 0;  ///< steps taken before capturing
    bool capturable_;
    std::unique_ptr<CapturedWork> captured_;
    std::string note_;
};

}  // namespace roper
