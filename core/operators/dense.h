#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

namespace roper {

// The layers of a transformer block outside attention, each as one autograd function with few passes over
// memory: products by oneDNN with bias, ReLU and residual fused, row operations by core/kernels. On the CPU;
// parameters, residuals and all gradients of parameters are float32. layer_operations.cpp has the equivalent
// with LibTorch's operations; a test compares the two. C: width of the model, F: features between the layers.

/// x Wᵀ + b, plus `residual` if it is defined. x [..., in], weight [out, in], bias [out] → [..., out]
/// @param x    float32; or bfloat16, in which case the factors of products in both passes are, too
/// @param out  type of the result: float32, or that of x if there is no residual
at::Tensor denseLinear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       at::ScalarType out = at::kFloat, const at::Tensor& residual = {});

/// Two layers with a non-linearity between them, plus `residual` if it is defined: act(x W₁ᵀ + b₁) W₂ᵀ + b₂.
/// x [..., C], W₁ = up_weight [F, C], W₂ = down_weight [C, F] → [..., C] (float32). With ReLU, NaN between
/// the layers becomes 0; its cause still shows in the residual or in the gradient.
/// @param gelu  use GELU (Hendrycks & Gimpel 2016), otherwise ReLU
at::Tensor denseFeedForward(const at::Tensor& x, const at::Tensor& up_weight, const at::Tensor& up_bias,
                            const at::Tensor& down_weight, const at::Tensor& down_bias, bool gelu,
                            const at::Tensor& residual = {});

/// x (float32) itself, and its LayerNorm. The backward pass adds the gradients of both in one pass over
/// memory.
/// @param type  of `normal`: float32 or bfloat16
struct Normalized {
    at::Tensor x, normal;
};
Normalized denseNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon,
                     at::ScalarType type = at::kFloat);

}  // namespace roper
