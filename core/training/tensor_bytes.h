#pragma once

#include <ATen/core/Tensor.h>

#include <stdexcept>
#include <string>

#include "core/base/safetensors.h"

namespace roper {

/// A tensor as an entry of a safetensors file. It must be contiguous, on the CPU, of float32 or int64, and
/// outlive the entry.
inline TensorToWrite tensorToWrite(const std::string& name, const at::Tensor& tensor) {
    if (!tensor.is_contiguous() || !tensor.device().is_cpu())
        throw std::logic_error("only contiguous tensors of the CPU can be written");
    const Dtype dtype = tensor.scalar_type() == at::kLong ? Dtype::I64 : Dtype::F32;
    return {name, dtype, tensor.sizes().vec(),
            std::span(static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes())};
}

}  // namespace roper
