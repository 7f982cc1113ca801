#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <vector>

#include "core/operators/dense.h"

namespace roper {

inline constexpr double kLayerNormEpsilon = 1e-5;

/// Weight [out, in] and bias [out] of a linear layer; or both [C] for a norm.
struct Affine {
    at::Tensor weight, bias;
};

/// How the layers of one pass through the blocks are computed: by our kernels or LibTorch's operations, in
/// which number types, and with or without dropout. The kernels cast weights themselves; LibTorch's
/// operations require weights of type `compute_type` (`castAll`). B sequences, T tokens, C = width.
class LayerOperations {
  public:
    bool uses_kernels = false;  ///< those of core/operators/dense.h
    bool gelu = true;           ///< activation of the feed-forward layers; otherwise ReLU
    double dropout = 0;         ///< 0: no dropout

    /// Type of parameters, residuals, norms and logits.
    at::ScalarType master_type = at::kFloat;

    /// Type to which the operands of matrix products are cast. bfloat16 with a `master_type` of float32 is
    /// the mixed precision of Micikevicius et al. 2018.
    at::ScalarType compute_type = at::kFloat;

    /// x itself, and its layer norm in the given type. [..., C]
    Normalized norm(const at::Tensor& x, const Affine& norm, at::ScalarType type) const;

    /// x Wᵀ + b [..., out], of type `compute_type`
    at::Tensor linear(const at::Tensor& x, const Affine& layer) const;

    /// The same in type `master_type`.
    at::Tensor linearToMaster(const at::Tensor& x, const Affine& layer) const;

    /// residual + drop(x Wᵀ + b)
    at::Tensor addLinear(const at::Tensor& residual, const at::Tensor& x, const Affine& layer) const;

    /// residual + drop(W₂ act(W₁ x + b₁) + b₂)
    at::Tensor addFeedForward(const at::Tensor& residual, const at::Tensor& x, const Affine& up,
                              const Affine& down) const;

    at::Tensor applyDropout(const at::Tensor& x) const;
};

/// Casts tensors to a type in one contiguous array: on a GPU one operation for all in each direction, instead
/// of one each. Gradients are returned in the tensors' own type.
std::vector<at::Tensor> castAll(const std::vector<at::Tensor>& tensors, at::ScalarType type);

}  // namespace roper
