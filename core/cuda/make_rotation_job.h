#pragma once

#include <vector>

#include "core/cuda/rotation_job.h"
#include "core/operators/gpu.h"

namespace roper {

/// The arguments of rotation.cu for these parts. @throws c10::Error if their shapes do not match
RotationJob makeRotationJob(const std::vector<RotationPart>& parts, Pairing pairing, Direction direction);

}  // namespace roper
