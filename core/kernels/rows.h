#pragma once

#include <cstddef>

namespace roper {

// What happens to activations between products, row by row: one pass over memory each. All arrays stand row
// after row, [rows, width]; sums over rows are added to what stands in them.

/// y = (x − mean) / deviation · weight + bias for each row (Ba et al. 2016).
/// @param means, inverses  [rows]: each row's mean, and 1 / √(variance + epsilon)
void normalizeRows(const float* x, const float* weight, const float* bias, float epsilon, std::size_t rows,
                   std::size_t width, float* y, float* means, float* inverses);

/// The gradient of `normalizeRows` in x, with `passing` added: what reaches x on other ways.
/// @param grad_y                    ∂L/∂y
/// @param passing                   [rows, width], or null; may be grad_x
/// @param grad_weight, grad_bias    [width]
void normalizeRowsBackward(const float* x, const float* weight, const float* means, const float* inverses,
                           const float* grad_y, const float* passing, std::size_t rows, std::size_t width,
                           float* grad_x, float* grad_weight, float* grad_bias);

/// sums [width] += Σ of the rows
void addRows(const float* rows_data, std::size_t rows, std::size_t width, float* sums);

/// gradient = 0 wherever y ≤ 0, the rest as it is; sums [width] += Σ of its rows
void reluBackward(const float* y, std::size_t rows, std::size_t width, float* gradient, float* sums);

/// y = x Φ(x), Φ the normal distribution's cumulative function (Hendrycks & Gimpel 2016). y may be x.
void gelu(const float* x, std::size_t rows, std::size_t width, float* y);

/// gradient = gradient ∘ (Φ(x) + x φ(x)), back through `gelu`; sums [width] += Σ of its rows
void geluBackward(const float* x, std::size_t rows, std::size_t width, float* gradient, float* sums);

}  // namespace roper
