#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace roper {

/// Why products are LibTorch's own; empty if they are oneDNN's (core/kernels/matrix_product.h).
const std::string& whyNotOneDnn();

/// out = act(a·b + bias) + added. float32 on the CPU.
/// @param a      [M, K], b [K, N]; either may be a transposed view
/// @param bias   [N] or undefined
/// @param added  [M, N] or undefined, contiguous
/// @param out    [M, N], contiguous
void multiplyInto(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                  const at::Tensor& bias = {}, const at::Tensor& added = {}, bool relu = false);

}  // namespace roper
