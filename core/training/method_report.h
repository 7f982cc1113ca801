#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/model/transformer.h"
#include "core/runs/rows.h"

namespace roper {

/// Values specific to a model's position method and attention: trained frequencies, T5's biases, and the
/// smallest denominator of linear attention over tokens [B, T]. Empty for most methods.
std::vector<MethodRow> methodReport(Transformer& model, const at::Tensor& tokens, std::int64_t step);

}  // namespace roper
