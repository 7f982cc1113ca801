#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roper {

/// Tensors as a safetensors file, each as float32 or, of whole numbers, int64.
std::string sentTensors(const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                        const std::map<std::string, std::string>& metadata = {});

}  // namespace roper
