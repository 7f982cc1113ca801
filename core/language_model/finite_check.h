#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "core/pretrained/pretrained_model.h"

namespace roper {

/// Stops a computation at NaN or infinity. If parameters are the cause they are named.
/// @param x      output of a part of the model
/// @param where  name of that part for the message: "layer 3"
/// @throws Error (checkpoint) if an element of `x` is not finite
void requireFinite(const at::Tensor& x, const std::string& where, const PretrainedModel& model);

}  // namespace roper
