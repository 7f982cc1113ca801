#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/base/random.h"

namespace roper {

/// The likeliest token at temperature 0, the first of several; otherwise one drawn from softmax(logits /
/// temperature).
/// @param logits  [V] (float32, on the CPU)
std::int64_t chooseToken(const at::Tensor& logits, double temperature, Random& random);

}  // namespace roper
