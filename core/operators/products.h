#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace roper {

/// Why LibTorch computes the products; empty if oneDNN does (core/kernels/matrix_product.h).
const std::string& reasonWithoutOneDnn();

/// Version of oneDNN and its instruction set on this CPU, such as "oneDNN 2.7.2, AVX-512 BF16"; empty if
/// LibTorch computes the products.
const std::string& oneDnnVersion();

/// Whether oneDNN multiplies bfloat16 on this CPU. Otherwise such products are computed in float32: the same
/// numbers except for the order of summation, but slower than float32 input.
bool oneDnnMultipliesBFloat16();

/// out = act(a·b + bias) + added, on the CPU. Products of bfloat16 are summed in float32 and rounded at most
/// once, at the end.
/// @param a      [M, K], b [K, N], K > 0, both float32 or both bfloat16; either may be a transposed view
/// @param bias   [N] (float32) or undefined
/// @param added  [M, N] (float32) or undefined, contiguous
/// @param out    [M, N], contiguous; float32, or of a's type if nothing is added
void multiplyInto(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                  const at::Tensor& bias = {}, const at::Tensor& added = {}, bool relu = false);

}  // namespace roper
