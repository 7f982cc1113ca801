#pragma once

#include <string>
#include <vector>

namespace roper {

/// rotation.cu as machine code for an architecture ("sm_90"), by NVRTC, the compiler that comes with
/// LibTorch's CUDA half. Needs no GPU.
/// @throws c10::Error if NVRTC is missing or refuses
std::vector<char> compileRotationKernel(const std::string& architecture);

}  // namespace roper
