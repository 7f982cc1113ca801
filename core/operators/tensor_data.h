#pragma once

#include <ATen/core/Tensor.h>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/safetensors.h"
#include "core/kernels/bfloat16.h"

namespace roper {

/// The safetensors element type of a tensor.
Dtype dtypeOf(const at::Tensor& tensor);

/// A list of tensors to write, which keeps their CPU copies alive.
class TensorsToWrite {
  public:
    TensorsToWrite() = default;
    /// Converts each to float32 or, if it is an integer tensor, int64.
    explicit TensorsToWrite(const std::vector<std::pair<std::string, at::Tensor>>& tensors);

    /// Without conversion: bytes, int64, float32 or float64.
    void add(const std::string& name, const at::Tensor& tensor);
    const std::vector<TensorToWrite>& views() const { return views_; }

  private:
    std::vector<at::Tensor> kept_;
    std::vector<TensorToWrite> views_;
};

/// Tensors as the bytes of a safetensors file, each as float32 or, if it is an integer tensor, int64.
std::string serializeTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                             const std::map<std::string, std::string>& metadata = {});

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
