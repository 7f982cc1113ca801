#pragma once

#include <ATen/core/Tensor.h>

#include "core/rotary/pairing.h"

namespace roper {

enum class Direction { forward, inverse };  ///< R(m) or R(−m)

/// Source and destination of a rotation of heads: [B, H, T, d] each, with arbitrary strides except the last,
/// which is 1.
struct RotationPart {
    at::Tensor from, to;      ///< of the same type
    at::Tensor cosine, sine;  ///< [T, pairs] (float32); features beyond 2·pairs are copied
};

}  // namespace roper
