#pragma once

#include <ATen/core/Tensor.h>

#include "core/pretrained/architecture.h"

namespace roper {

at::Tensor activated(const at::Tensor& x, Activation activation);
at::Tensor activated(const at::Tensor& x, const Xielu& by);

/// Limits the gate of a layer from above and its other factor on both sides; not, if the limit is 0
/// (`Architecture::swiglu_limit`).
void limitGate(at::Tensor& gate, at::Tensor& up, double limit);

/// cap·tanh(x/cap); x itself if the cap is 0.
at::Tensor capped(const at::Tensor& x, double cap);

}  // namespace roper
