#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <string>

namespace roper {

/// The attention of a model's training steps.
struct AttentionShape {
    std::int64_t B = 0, H = 0, T = 0, d = 0;
    at::ScalarType type = at::kFloat;
    at::Device device = at::kCPU;
    bool causal = true;
    at::Tensor mask = {};  ///< [1, H, T, T], added to the scores; or undefined
};

/// Has LibTorch's attention prefer, from now on, the implementation (flash, memory-efficient, cuDNN's, plain
/// products) that is the fastest forward and backward for this shape: which one that is differs between GPUs.
/// Where that cannot do another shape, the next fastest does.
/// @return  a line for the log: "attention by LibTorch's flash (flash 0.21 ms, math 1.3 ms)"
/// @throws c10::Error if none does this shape
std::string chooseAttention(const AttentionShape& shape);

}  // namespace roper
