#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/positions/positions.h"

namespace roper {

/// Softmax attention over whole sequences by the kernel of core/kernels, from q, k and v as the layer makes
/// them to what the output projection reads: rotated, scored, mixed and rotated back in one pass.
/// Differentiable in q, k and v and in the bias, not in the angles. On the CPU.
/// @param qkv   q, k and v side by side: [B, T, 3C], float32 or bfloat16
/// @param pass  positions 0 … T − 1: this layer's cos and sin and the `distance_bias`, if any
/// @return      the outputs of all heads side by side: [B, T, C], of the type of `qkv`
at::Tensor fusedAttention(const at::Tensor& qkv, std::int64_t heads, bool causal, Pairing pairing,
                          const PassPositions& pass, std::size_t layer);

}  // namespace roper
