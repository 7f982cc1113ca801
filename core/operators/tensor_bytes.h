#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/safetensors.h"

namespace roper {

/// As what a safetensors file holds a tensor.
Dtype dtypeOf(const at::Tensor& tensor);

/// Tensors to write, which keeps their copies on the CPU alive.
class TensorsToWrite {
  public:
    TensorsToWrite() = default;
    /// Each as float32 or, of whole numbers, int64.
    explicit TensorsToWrite(const std::vector<std::pair<std::string, at::Tensor>>& tensors);

    /// As it is: bytes, int64, float32 or float64.
    void add(const std::string& name, const at::Tensor& tensor);
    const std::vector<TensorToWrite>& views() const { return views_; }

  private:
    std::vector<at::Tensor> kept_;
    std::vector<TensorToWrite> views_;
};

/// Tensors as a safetensors file, each as float32 or, of whole numbers, int64.
std::string sentTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                        const std::map<std::string, std::string>& metadata = {});

}  // namespace roper
