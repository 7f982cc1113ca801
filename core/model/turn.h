#pragma once

#include <ATen/core/Tensor.h>

#include "core/rotary/pairing.h"

namespace roper {

enum class Turn { forward, back };  ///< R(m) or R(−m)

/// Heads that are turned from one place to another: [B, H, T, d] each, with strides of their own but for the
/// last, which is 1.
struct TurnPart {
    at::Tensor from, to;      ///< of the same type
    at::Tensor cosine, sine;  ///< [T, pairs] (float32); the features beyond 2·pairs are copied
};

}  // namespace roper
