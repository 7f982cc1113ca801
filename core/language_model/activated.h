#pragma once

#include <ATen/core/Tensor.h>

#include "core/pretrained/architecture.h"

namespace roper {

at::Tensor activated(const at::Tensor& x, Activation activation);
at::Tensor activated(const at::Tensor& x, const Xielu& by);

/// Clamps the gate of a SwiGLU layer to at most `limit` and its other factor to ±limit; 0: no limit
/// (`Architecture::swiglu_limit`).
void limitGate(at::Tensor& gate, at::Tensor& up, double limit);

/// cap·tanh(x/cap); x itself if the cap is 0.
at::Tensor capped(const at::Tensor& x, double cap);

}  // namespace roper
