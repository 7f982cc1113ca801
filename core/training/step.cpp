#include "core/training/step.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <cmath>

#include "core/training/optimizer.h"
#include "core/training/step_profile.h"

namespace roper {

bool StepResult::finite() const {
    return std::isfinite(loss) && std::isfinite(gradient_norm);
}

StepResult trainStep(Transformer& model, AdamW& optimizer, const Batch& batch,
                     const Specification::Training& settings, std::int64_t step, at::Device device,
                     GradientReducer* reducer) {
    model.positions().setStep(step);
    const at::Tensor loss = model.loss(batch.inputs.to(device), batch.targets.to(device), /*training=*/true);
    loss.backward();
    RECORD_USER_SCOPE(kOptimizerScope);
    StepResult result{loss.item<double>(), 0, learningRate(settings, step)};
    if (reducer != nullptr) result.loss = reducer->averageLoss(result.loss, batch.targets);
    result.gradient_norm = optimizer.collectGradients(reducer).item<double>();
    if (!result.finite()) return result;
    optimizer.clip(result.gradient_norm, settings.clip_norm);
    optimizer.step(result.learning_rate);
    return result;
}

}  // namespace roper
