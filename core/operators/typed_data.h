#pragma once

#include <ATen/core/Tensor.h>

#include <type_traits>

#include "core/kernels/bfloat16.h"

namespace roper {

/// A tensor's data in the kernels' type; Number is float or BFloat16 and must match the tensor's type.
template <class Number>
Number* typedData(const at::Tensor& tensor) {
    constexpr at::ScalarType kType = std::is_same_v<Number, float> ? at::kFloat : at::kBFloat16;
    TORCH_CHECK(tensor.scalar_type() == kType, "a kernel for ", kType, " was given ", tensor.scalar_type());
    return static_cast<Number*>(tensor.mutable_data_ptr());
}

/// Calls work(float()) or work(BFloat16()), depending on the tensor's type.
template <class Work>
auto dispatchType(const at::Tensor& tensor, Work work) {
    return tensor.scalar_type() == at::kBFloat16 ? work(BFloat16()) : work(float());
}

}  // namespace roper
