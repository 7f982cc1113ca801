#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <string>

namespace roper {

/// Shape of the attention in training steps: B sequences, H heads, T tokens, d features of a head.
struct AttentionShape {
    std::int64_t B = 0, H = 0, T = 0, d = 0;
    at::ScalarType type = at::kFloat;
    at::Device device = at::kCPU;
    bool causal = true;
    at::Tensor mask = {};  ///< [1, H, T, T], added to the scores; or undefined
};

/// Makes LibTorch's attention prefer from now on the implementation (flash, memory-efficient, cuDNN, plain
/// products) that is fastest, forward and backward, for this shape, since that differs between GPUs. For
/// shapes that it does not support, the next fastest is used.
/// @return  a line for the log: "attention by LibTorch's flash (flash 0.21 ms, math 1.3 ms)"
/// @throws c10::Error if none supports this shape
std::string selectAttentionBackend(const AttentionShape& shape);

}  // namespace roper
