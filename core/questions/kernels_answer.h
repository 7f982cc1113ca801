#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/answer_json.h"
#include "core/questions/value_kernel.h"

namespace roper {

/// What every head makes of a value by its distance.
struct KernelsAnswer {
    std::vector<ValueKernel> kernels;  ///< layer by layer
};

/// What one head of a run made of a value by its distance at every checkpoint that the run has.
struct KernelHistory {
    std::int64_t layer = 0, head = 0;
    std::vector<std::int64_t> steps;   ///< ascending
    std::vector<ValueKernel> kernels;  ///< one for each step
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueKernel, norm, cosine)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelsAnswer, kernels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelHistory, layer, head, steps, kernels)

}  // namespace roper
