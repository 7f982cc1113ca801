#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/positions/positions.h"

namespace roper {

/// Softmax attention over whole sequences by the kernel of core/kernels, from the layer's q, k and v to the
/// input of the output projection: rotated, scored, summed and rotated back in one pass. Differentiable in q,
/// k and v and in the bias, not in the angles. On the CPU.
/// @param qkv   concatenated q, k and v: [B, T, 3C], float32 or bfloat16
/// @param pass  positions 0 … T − 1: this layer's cos and sin and the `distance_bias`, if any
/// @return      concatenated outputs of all heads: [B, T, C], of the type of `qkv`
at::Tensor fusedAttention(const at::Tensor& qkv, std::int64_t heads, bool causal, Pairing pairing,
                          const PassPositions& pass, std::size_t layer);

}  // namespace roper
