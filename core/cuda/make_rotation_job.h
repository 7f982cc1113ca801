#pragma once

#include <vector>

#include "core/cuda/rotation_job.h"
#include "core/operators/gpu.h"

namespace roper {

/// What rotation.cu is to do for these parts. @throws c10::Error if they do not fit
RotationJob makeRotationJob(const std::vector<RotationPart>& parts, Pairing pairing, Direction direction);

}  // namespace roper
