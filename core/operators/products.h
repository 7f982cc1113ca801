#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace roper {

/// Why products are LibTorch's own; empty if they are oneDNN's (core/kernels/matrix_product.h).
const std::string& whyNotOneDnn();

/// That oneDNN and the instructions it uses on this CPU: "oneDNN 2.7.2, AVX-512 BF16"; empty if products are
/// not its own.
const std::string& oneDnnVersion();

/// Whether oneDNN multiplies bfloat16 on this CPU. Elsewhere such products are made of float32 ones: the same
/// numbers but for the order of sums, and slower than float32.
bool oneDnnMultipliesBFloat16();

/// out = act(a·b + bias) + added, on the CPU. Products of bfloat16 are summed in float32 and rounded, if at
/// all, at the very end.
/// @param a      [M, K], b [K, N], K > 0, both float32 or both bfloat16; either may be a transposed view
/// @param bias   [N] (float32) or undefined
/// @param added  [M, N] (float32) or undefined, contiguous
/// @param out    [M, N], contiguous; float32, or of a's type where nothing is added
void multiplyInto(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                  const at::Tensor& bias = {}, const at::Tensor& added = {}, bool relu = false);

}  // namespace roper
