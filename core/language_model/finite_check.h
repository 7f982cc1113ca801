#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "core/pretrained/pretrained_model.h"

namespace roper {

/// Nothing is computed on from what is no number. Where parameters are at fault they are named.
/// @param x      what a part of the model has computed
/// @param where  that part, for a person: "layer 3"
/// @throws Error (checkpoint) if not all of `x` is finite
void requireFinite(const at::Tensor& x, const std::string& where, const PretrainedModel& model);

}  // namespace roper
