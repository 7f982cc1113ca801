#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/positions.h"

namespace roper {

/// Softmax attention over whole sequences by the kernel of core/kernels, from the product that makes q, k and
/// v to what the output projection reads: turned, weighed, mixed and turned back in one pass. Differentiable
/// in the product and in the bias; not in the turns. On the CPU.
/// @param product  q, k and v side by side: [B, T, 3C], float32 or bfloat16
/// @param pass     positions 0 … T − 1: its turns of this layer and its `distance_bias`, if any
/// @return         the outputs of all heads side by side: [B, T, C], of the product's type
at::Tensor fusedAttention(const at::Tensor& product, std::int64_t heads, bool causal, Pairing pairing,
                          const PassPositions& pass, std::size_t layer);

}  // namespace roper
