#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

namespace roper {

// The parts of a block outside attention, each as one autograd function with few passes over memory: products
// by oneDNN with bias, ReLU and residual in their ending, rows by core/kernels. On the CPU; parameters,
// residuals and all gradients of parameters are float32. The same by LibTorch's operations stands in
// pass.cpp; a test holds the two together. M = B·T rows.

/// x Wᵀ + b, plus `residual` if it is defined. x [..., in], weight [out, in], bias [out] → [..., out]
/// @param x    float32; or bfloat16, then the factors of products are, back and forth
/// @param out  the answer's type: float32, or x's where there is no residual
at::Tensor denseLinear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       at::ScalarType out = at::kFloat, const at::Tensor& residual = {});

/// Two layers with a non-linearity between them, plus `residual` if it is defined:
/// act(x W₁ᵀ + b₁) W₂ᵀ + b₂. x [..., C], up_weight [F, C], down_weight [C, F] → [..., C] (float32)
/// With ReLU, NaN between the layers counts as 0; its cause still shows in the residual or in the gradient.
/// @param gelu  GELU (Hendrycks & Gimpel 2016) between them, otherwise ReLU
at::Tensor denseFeedForward(const at::Tensor& x, const at::Tensor& up_weight, const at::Tensor& up_bias,
                            const at::Tensor& down_weight, const at::Tensor& down_bias, bool gelu,
                            const at::Tensor& residual = {});

/// x (float32) once more, and layer-normalised. What reaches x from both ways back is added in the same pass.
/// @param type  of `normal`: float32 or bfloat16
struct Normalized {
    at::Tensor x, normal;
};
Normalized denseNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon,
                     at::ScalarType type = at::kFloat);

}  // namespace roper
