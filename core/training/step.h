#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/model/transformer.h"
#include "core/specification/specification.h"
#include "core/training/batches.h"
#include "core/training/optimizer.h"

namespace roper {

/// Results of a training step.
struct StepResult {
    double loss = 0, gradient_norm = 0, learning_rate = 0;

    bool finite() const;
};

/// Combines losses and gradients when several processes take a step together, each with a part of its batch.
class GradientReducer {
  public:
    virtual ~GradientReducer() = default;

    /// @param loss     the mean over the targets of this process's part
    /// @param targets  of that part
    /// @returns the mean over the targets of the whole batch
    virtual double averageLoss(double loss, const at::Tensor& targets) = 0;

    /// To be called after `averageLoss`.
    /// @param gradients  of the part's mean loss; replaced by those of the whole batch's
    virtual void averageGradients(at::Tensor& gradients) = 0;
};

/// One training step: forward, loss, backward, clipping, update. If the loss or the gradient norm is not
/// finite, nothing is updated.
/// @param step     1 for the first
/// @param reducer  combination with the other processes of the run; null if there are none
StepResult trainStep(Transformer& model, AdamW& optimizer, const Batch& batch,
                     const Specification::Training& settings, std::int64_t step, at::Device device,
                     GradientReducer* reducer = nullptr);

}  // namespace roper
