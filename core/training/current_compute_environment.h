#pragma once

#include <c10/core/Device.h>

#include "core/model/transformer.h"
#include "core/runs/compute_environment.h"

namespace roper {

/// Describes what computes a model's training in this process, on an opened device.
ComputeEnvironment currentComputeEnvironment(const Transformer& model, const c10::Device& device);

}  // namespace roper
