#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <vector>

#include "core/operators/dense.h"

namespace roper {

/// Weight [out, in] and bias [out] of a linear layer; or both [C] of a norm.
struct Affine {
    at::Tensor weight, bias;
};

/// How the layers of one pass through the blocks are computed: by our kernels or by LibTorch's operations, in
/// which numbers, and whether some are dropped. The kernels cast weights themselves; LibTorch's operations
/// are given weights of type `compute_type` (`castTogether`). B sequences, T tokens, C = width.
class Pass {
  public:
    bool by_kernels = false;  ///< of core/operators/dense.h
    bool gelu = true;         ///< between the feed-forward layers; otherwise ReLU
    double dropout = 0;       ///< 0 where nothing is dropped

    /// Of parameters, residuals, norms and logits.
    at::ScalarType master_type = at::kFloat;

    /// What the operands of matrix products are cast to. bfloat16 where `master_type` is float32 is the mixed
    /// precision of Micikevicius et al. 2018.
    at::ScalarType compute_type = at::kFloat;

    /// x once more, and its layer norm in numbers of a type. [..., C]
    Normalized norm(const at::Tensor& x, const Affine& norm, at::ScalarType type) const;

    /// x Wᵀ + b [..., out], of type `compute_type`
    at::Tensor linear(const at::Tensor& x, const Affine& layer) const;

    /// The same of type `master_type`.
    at::Tensor linearToMaster(const at::Tensor& x, const Affine& layer) const;

    /// residual + drop(x Wᵀ + b)
    at::Tensor addLinear(const at::Tensor& residual, const at::Tensor& x, const Affine& layer) const;

    /// residual + drop(W₂ act(W₁ x + b₁) + b₂)
    at::Tensor addFeedForward(const at::Tensor& residual, const at::Tensor& x, const Affine& up,
                              const Affine& down) const;

    at::Tensor drop(const at::Tensor& x) const;
};

/// Tensors cast to a type, side by side in one array: on a GPU one operation for all, there and back,
/// instead of one each. Gradients come back in the tensors' own type.
std::vector<at::Tensor> castTogether(const std::vector<at::Tensor>& tensors, at::ScalarType type);

}  // namespace roper
