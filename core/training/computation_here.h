#pragma once

#include <c10/core/Device.h>

#include "core/model/transformer.h"
#include "core/runs/computation.h"

namespace roper {

/// What computes a model's training in this process, on a device that has been opened.
Computation computationBy(const Transformer& model, const c10::Device& device);

}  // namespace roper
