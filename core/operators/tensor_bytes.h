#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/safetensors.h"

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

}  // namespace roper
