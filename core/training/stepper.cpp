#include "core/training/stepper.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include "core/base/random.h"
#include "core/operators/gpu.h"
#include "core/training/queued_stepper.h"
#include "core/training/step_profile.h"

namespace roper {
namespace {

class DirectStepper final : public Stepper {
  public:
    DirectStepper(const StepperContext& training, std::int64_t steps_done)
        : training_(training), step_(steps_done) {}

    std::int64_t maxStepsPerSubmission() const override { return 1; }

    std::vector<StepResult> advance(std::int64_t count) override {
        std::vector<StepResult> found;
        for (std::int64_t i = 0; i < count; ++i) {
            const Batch batch = [&] {
                RECORD_USER_SCOPE(kDataScope);
                return training_.batches.next();
            }();
            ++step_;
            if (training_.reducer != nullptr) seedDropout();
            found.push_back(trainStep(training_.model, training_.optimizer, batch,
                                      training_.specification.training, step_, training_.device,
                                      training_.reducer));
        }
        return found;
    }

    std::vector<StepResult> finish() override { return {}; }

  private:
    /// Each process drops different features. Checkpoints contain only the generator of the first process, so
    /// each step starts with a generator seeded by the step's number.
    void seedDropout() const {
        constexpr std::uint64_t kMaxProcesses = 1024;
        Random random(
            static_cast<std::uint64_t>(training_.specification.training.model_seed), Stream::dropout,
            static_cast<std::uint64_t>(step_) * kMaxProcesses + static_cast<std::uint64_t>(training_.rank));
        at::manual_seed(random.next());
    }

    StepperContext training_;
    std::int64_t step_;
};

}  // namespace

std::unique_ptr<Stepper> makeStepper(const StepperContext& training, std::int64_t steps_done) {
    const bool on_gpu = !training.device.is_cpu() || (gpu() != nullptr && gpu()->deviceType() == c10::kCPU);
    if (on_gpu && training.reducer == nullptr) return std::make_unique<QueuedStepper>(training, steps_done);
    return std::make_unique<DirectStepper>(training, steps_done);
}

}  // namespace roper
