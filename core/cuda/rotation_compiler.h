#pragma once

#include <string>
#include <vector>

namespace roper {

/// Compiles rotation.cu to machine code for an architecture ("sm_90") with NVRTC, which comes with LibTorch's
/// CUDA packages. Needs no GPU.
/// @throws c10::Error if NVRTC is missing or fails
std::vector<char> compileRotationKernel(const std::string& architecture);

}  // namespace roper
