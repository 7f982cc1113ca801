#pragma once

#include <string>
#include <vector>

#include "core/cuda/rotation_job.h"
#include "core/operators/gpu.h"

namespace roper {

/// Compiles rotation.cu to machine code for an architecture ("sm_90") with NVRTC, CUDA's run-time compiler,
/// which comes with LibTorch's CUDA packages. Needs no GPU.
/// @throws c10::Error if NVRTC is missing or fails
std::vector<char> compileRotationKernel(const std::string& architecture);

/// The arguments of rotation.cu for these parts. @throws c10::Error if their shapes do not match
RotationJob makeRotationJob(const std::vector<HeadRotation>& parts, Pairing pairing, Direction direction);

}  // namespace roper
