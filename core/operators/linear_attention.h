#pragma once

#include <ATen/core/Tensor.h>

#include "core/rotary/attention_kind.h"

namespace roper {

/// Minimum to which denominators and norms of linear attention are clamped; where one would be smaller, the
/// numerator vanishes, too.
inline constexpr double kMinDenominator = 1e-12;

/// The feature map of linear attention, applied to q or k: φ(x) = elu(x) + 1 (Katharopoulos et al. 2020), or
/// x/|x|; for softmax the identity. Any shape [..., d].
at::Tensor featureMap(AttentionKind kind, const at::Tensor& x);

/// Σ_{j ≤ n} (q_n·k_j) v_j for every n, by running sums over k vᵀ: memory grows with T, not with T²
/// (Katharopoulos et al. 2020, eq. 9–12). Differentiable; the backward pass computes such sums over
/// earlier and over later tokens.
/// @param q, k  [B, H, T, d]: B sequences, H heads, T tokens
/// @param v     [B, H, T, e]
/// @return      [B, H, T, e]
at::Tensor causalProduct(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

}  // namespace roper
