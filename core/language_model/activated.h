#pragma once

#include <ATen/core/Tensor.h>

#include "core/pretrained/architecture.h"

namespace roper {

at::Tensor activated(const at::Tensor& x, Activation activation);

}  // namespace roper
