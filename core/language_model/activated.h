#pragma once

#include <ATen/core/Tensor.h>

#include "core/pretrained/architecture.h"

namespace roper {

at::Tensor activated(const at::Tensor& x, Activation activation);
at::Tensor activated(const at::Tensor& x, const Xielu& by);

/// cap·tanh(x/cap); x itself if the cap is 0.
at::Tensor capped(const at::Tensor& x, double cap);

}  // namespace roper
