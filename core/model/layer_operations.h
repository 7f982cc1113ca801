#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <vector>

#include "core/operators/dense.h"

namespace roper {

inline constexpr double kNormEpsilon = 1e-5;

/// Weight [out, in] and bias [out] of a linear layer; or both [C] for a norm. A layer without a bias has one
/// of zeros, which is not trained; a layer that a block does not have is undefined.
struct Affine {
    at::Tensor weight, bias;
};

/// How the layers of one pass through the blocks are computed: by our kernels or LibTorch's operations, in
/// which number types, and with or without dropout. The kernels cast weights themselves; LibTorch's
/// operations require weights of type `compute_type` (`castAll`). B sequences, T tokens, C = width.
class LayerOperations {
  public:
    bool uses_kernels = false;  ///< those of core/operators/dense.h
    bool gelu = true;           ///< activation of feed-forward layers without a gate; otherwise ReLU
    bool rms = false;           ///< norms are RMSNorm, otherwise LayerNorm
    double dropout = 0;         ///< 0: no dropout

    /// Type of parameters, residuals, norms and logits.
    at::ScalarType master_type = at::kFloat;

    /// Type to which the operands of matrix products are cast. bfloat16 with a `master_type` of float32 is
    /// the mixed precision of Micikevicius et al. 2018.
    at::ScalarType compute_type = at::kFloat;

    /// x, and x normalized in the given type. [..., C]
    Normalized norm(const at::Tensor& x, const Affine& norm, at::ScalarType type) const;

    /// x Wᵀ + b [..., out], of type `compute_type`
    at::Tensor linear(const at::Tensor& x, const Affine& layer) const;

    /// x Wᵀ + b [..., out], of type `master_type`
    at::Tensor linearToMaster(const at::Tensor& x, const Affine& layer) const;

    /// residual + drop(x Wᵀ + b)
    at::Tensor addLinear(const at::Tensor& residual, const at::Tensor& x, const Affine& layer) const;

    /// residual + drop(W₂ act(W₁ x + b₁) + b₂), or with a gate residual + drop(W₂ (silu(W_g x) ⊙ W₁ x))
    /// (SwiGLU, Shazeer 2020)
    at::Tensor addFeedForward(const at::Tensor& residual, const at::Tensor& x, const Affine& gate,
                              const Affine& up, const Affine& down) const;

    at::Tensor applyDropout(const at::Tensor& x) const;
};

/// Casts tensors to a type in one contiguous array: on a GPU one operation for all in each direction, instead
/// of one each. Gradients are returned in the tensors' own type.
std::vector<at::Tensor> castAll(const std::vector<at::Tensor>& tensors, at::ScalarType type);

}  // namespace roper
