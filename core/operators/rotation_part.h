#pragma once

#include <ATen/core/Tensor.h>

#include "core/rotary/pairing.h"

namespace roper {

enum class Direction { forward, inverse };  ///< R(m) or R(−m)

/// Heads that are rotated from one place to another: [B, H, T, d] each, with strides of their own but for the
/// last, which is 1.
struct RotationPart {
    at::Tensor from, to;      ///< of the same type
    at::Tensor cosine, sine;  ///< [T, pairs] (float32); the features beyond 2·pairs are copied
};

}  // namespace roper
