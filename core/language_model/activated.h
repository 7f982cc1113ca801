#pragma once

#include <ATen/core/Tensor.h>

#include "core/pretrained/architecture.h"

namespace roper {

at::Tensor activated(const at::Tensor& x, Activation activation);
at::Tensor activated(const at::Tensor& x, const Xielu& by);

}  // namespace roper
