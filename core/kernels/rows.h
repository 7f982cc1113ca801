#pragma once

#include <cstddef>

#include "core/kernels/bfloat16.h"

namespace roper {

/// Row-wise operations on activations between products, with one pass over memory each. All arrays are
/// row-major, [rows, width]; sums over rows are added to the existing values. Number: float or BFloat16.
template <class Number>
struct RowKernels {
    /// LayerNorm, y = (x − mean) / deviation · weight + bias for each row (Ba et al. 2016).
    /// @param means, inverse_deviations  [rows]: each row's mean, and 1 / √(variance + epsilon)
    void (*normalize)(const float* x, const float* weight, const float* bias, float epsilon, std::size_t rows,
                      std::size_t width, Number* y, float* means, float* inverse_deviations);

    /// The gradient of `normalize` with respect to x, plus `residual_gradient`, the gradient that reaches x
    /// on other paths.
    /// @param grad_y                    ∂L/∂y
    /// @param residual_gradient         [rows, width], or null; may be grad_x
    /// @param grad_weight, grad_bias    [width]
    void (*normalize_backward)(const float* x, const float* weight, const float* means,
                               const float* inverse_deviations, const Number* grad_y,
                               const float* residual_gradient, std::size_t rows, std::size_t width,
                               float* grad_x, float* grad_weight, float* grad_bias);

    /// sums [width] += Σ of the rows
    void (*add)(const Number* data, std::size_t rows, std::size_t width, float* sums);

    /// gradient = 0 wherever y ≤ 0, otherwise unchanged; sums [width] += Σ of its rows
    void (*relu_backward)(const Number* y, std::size_t rows, std::size_t width, Number* gradient,
                          float* sums);

    /// y = x Φ(x) with the cumulative normal distribution Φ (Hendrycks & Gimpel 2016). y may be x.
    void (*gelu)(const Number* x, std::size_t count, Number* y);

    /// gradient = gradient ∘ (Φ(x) + x φ(x)), the backward pass of `gelu`, where φ = Φ′; sums [width] += Σ of
    /// its rows
    void (*gelu_backward)(const Number* x, std::size_t rows, std::size_t width, Number* gradient,
                          float* sums);
};

/// The functions for the best instruction set of this CPU.
template <class Number>
const RowKernels<Number>& rowKernels();
template <>
const RowKernels<float>& rowKernels();
template <>
const RowKernels<BFloat16>& rowKernels();

}  // namespace roper
