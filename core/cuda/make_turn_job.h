#pragma once

#include <vector>

#include "core/cuda/turn_job.h"
#include "core/model/gpu.h"

namespace roper {

/// What turn.cu is to do for these parts. @throws c10::Error if they do not fit
TurnJob makeTurnJob(const std::vector<TurnPart>& parts, Pairing pairing, Turn direction);

}  // namespace roper
