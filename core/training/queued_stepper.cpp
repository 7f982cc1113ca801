#include "core/training/queued_stepper.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

#include "core/training/optimizer.h"

namespace roper {
namespace {

/// Steps before one is captured: they create what it reuses, such as tables, plans of products and memory.
constexpr int kWarmupSteps = 3;

/// Pinned host memory, which a GPU can access directly.
at::Tensor hostMemory(at::IntArrayRef sizes, at::ScalarType type, const at::Device& device) {
    return at::empty(sizes, at::TensorOptions(type).pinned_memory(!device.is_cpu()));
}

}  // namespace

QueuedStepper::QueuedStepper(const StepperContext& training, std::int64_t steps_done)
    : training_(training), submitted_(steps_done), last_finish_(Clock::now()), capturable_(gpu() != nullptr) {
    const auto& settings = training_.specification.training;
    const std::int64_t rows = 2 * kMaxStepsPerSubmission;
    const std::vector<std::int64_t> sizes = {rows, settings.batch, training_.specification.inputLength()};
    const at::TensorOptions here = at::TensorOptions(training_.device);
    for (at::Tensor* tensor : {&host_inputs_, &host_targets_})
        *tensor = hostMemory(sizes, at::kLong, training_.device);
    for (at::Tensor* tensor : {&inputs_, &targets_})
        *tensor = at::zeros(sizes, here.dtype(at::kLong));
    results_ = at::zeros({rows, 2}, here.dtype(at::kFloat));
    host_results_ = hostMemory({rows, 2}, at::kFloat, training_.device);
    const at::Tensor rates = at::zeros({settings.steps + 1}, at::kFloat);
    float* const rate_of = rates.mutable_data_ptr<float>();
    for (std::int64_t step = 1; step <= settings.steps; ++step)
        rate_of[step] = static_cast<float>(learningRate(settings, step));
    rates_ = rates.to(training_.device);
    step_ = at::full({1}, steps_done + 1, here.dtype(at::kLong));
    slot_ = at::zeros({1}, here.dtype(at::kLong));
    training_.optimizer.startOnDevice();
}

QueuedStepper::~QueuedStepper() {
    try {
        finish();  // until then, the device writes into memory of this object
    } catch (const std::exception&) {
        // The error was already reported where it occurred.
    }
}

/// Copies the next batches to one half of the device's arrays.
void QueuedStepper::load(std::int64_t count, std::int64_t half) {
    const std::int64_t first = half * kMaxStepsPerSubmission;
    for (std::int64_t i = 0; i < count; ++i) {
        const Batch batch = training_.batches.next();
        host_inputs_[first + i].copy_(batch.inputs);
        host_targets_[first + i].copy_(batch.targets);
    }
    const auto copy = [&](const at::Tensor& to, const at::Tensor& from) {
        to.narrow(0, first, count).copy_(from.narrow(0, first, count), /*non_blocking=*/true);
    };
    copy(inputs_, host_inputs_);
    copy(targets_, host_targets_);
    slot_.fill_(first);
}

/// One step that uses only data on the device.
void QueuedStepper::stepOnDevice() {
    const auto& settings = training_.specification.training;
    const at::Tensor loss =
        training_.model.loss(inputs_.index_select(0, slot_).squeeze(0),
                             targets_.index_select(0, slot_).squeeze(0), /*training=*/true);
    loss.backward();
    const at::NoGradGuard no_gradients;
    const at::Tensor norm = training_.optimizer.collectGradients();
    training_.optimizer.stepOnDevice(loss.detach(), norm, settings.clip_norm,
                                     rates_.index_select(0, step_.clamp_max(settings.steps)).squeeze(0));
    results_.index_copy_(0, slot_, at::stack({loss.detach(), norm}).unsqueeze(0));
    step_.add_(1);
    slot_.add_(1);
}

void QueuedStepper::submitStep() {
    if (captured_) return captured_->replay();
    if (!capturable_ || warmup_steps_done_ < kWarmupSteps) {
        ++warmup_steps_done_;
        return stepOnDevice();
    }
    try {
        captured_ = gpu()->capture([this] { stepOnDevice(); });
    } catch (const c10::Error& error) {
        // A failed capture leaves the generator used by dropout in an undefined state.
        if (training_.specification.model.dropout > 0) throw;
        capturable_ = false;
        note_ =
            std::string("steps are not captured, and therefore slower: ") + error.what_without_backtrace();
        training_.optimizer.dropGradients();
        return stepOnDevice();
    }
    captured_->replay();
}

std::vector<StepResult> QueuedStepper::advance(std::int64_t count) {
    TORCH_CHECK(count >= 1 && count <= kMaxStepsPerSubmission, count, " steps at once");
    if (!in_flight_) last_finish_ = Clock::now();
    load(count, half_);
    for (std::int64_t i = 0; i < count; ++i) {
        training_.model.positions().setStep(submitted_ + i + 1);
        submitStep();
    }
    const std::int64_t first = half_ * kMaxStepsPerSubmission;
    host_results_.narrow(0, first, count).copy_(results_.narrow(0, first, count), /*non_blocking=*/true);
    SubmittedSteps steps{submitted_ + 1, count, half_, std::nullopt};
    if (!training_.device.is_cpu()) {
        steps.done.emplace(training_.device.type());
        steps.done->record(c10::impl::VirtualGuardImpl(training_.device.type()).getStream(training_.device));
    }
    std::vector<StepResult> found = finish();
    in_flight_ = std::move(steps);
    submitted_ += count;
    half_ = 1 - half_;
    return found;
}

/// Waits for the submitted steps. @returns their results
std::vector<StepResult> QueuedStepper::finish() {
    constexpr double kSubmissionSeconds = 0.25;
    if (!in_flight_) return {};
    const SubmittedSteps steps = std::move(*in_flight_);
    in_flight_.reset();
    if (steps.done) steps.done->synchronize();
    const auto now = Clock::now();
    const double step_seconds =
        std::chrono::duration<double>(now - last_finish_).count() / static_cast<double>(steps.count);
    last_finish_ = now;
    const double fit = std::min(kSubmissionSeconds / std::max(step_seconds, 1e-6),
                                2.0 * static_cast<double>(max_steps_per_submission_));
    max_steps_per_submission_ =
        std::clamp(static_cast<std::int64_t>(fit), std::int64_t{1}, kMaxStepsPerSubmission);
    std::vector<StepResult> found;
    const auto numbers = host_results_.accessor<float, 2>();
    for (std::int64_t i = 0; i < steps.count; ++i) {
        const auto row = numbers[steps.half * kMaxStepsPerSubmission + i];
        found.push_back(
            {row[0], row[1], learningRate(training_.specification.training, steps.first_step + i)});
    }
    training_.optimizer.setStepsDone(steps.first_step + steps.count - 1);
    return found;
}

}  // namespace roper
