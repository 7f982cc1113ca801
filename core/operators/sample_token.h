#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/base/random.h"

namespace roper {

/// At temperature 0 the most likely token (the first if several tie); otherwise a sample from softmax(logits
/// / temperature).
/// @param logits  [V] (float32, on the CPU)
std::int64_t sampleToken(const at::Tensor& logits, double temperature, Random& random);

}  // namespace roper
