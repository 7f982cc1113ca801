#pragma once

#include <ATen/core/Tensor.h>

namespace roper {

/// Σ_{j ≤ n} (q_n·k_j) v_j for every n, by running sums over k vᵀ: memory grows with T, not with T²
/// (Katharopoulos et al. 2020, eq. 9–12). Differentiable; its backward runs the same sums again, from both
/// ends.
/// @param q, k  [B, H, T, d]
/// @param v     [B, H, T, e]
/// @return      [B, H, T, e]
at::Tensor causalProduct(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

}  // namespace roper
