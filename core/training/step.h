#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/model/transformer.h"
#include "core/specification/specification.h"
#include "core/training/batches.h"
#include "core/training/optimizer.h"

namespace roper {

/// What a training step found.
struct StepNumbers {
    double loss = 0, gradient_norm = 0, learning_rate = 0;

    bool finite() const;
};

/// One step of training: forward, loss, backward, clipping, update. Where the loss or the gradient's norm is
/// not finite, nothing is updated.
/// @param step  1 for the first
StepNumbers takeStep(Transformer& model, AdamW& optimizer, const Batch& batch,
                     const Specification::Training& settings, std::int64_t step, at::Device device);

}  // namespace roper
