#pragma once

#include <cstdint>
#include <vector>

#include "core/questions/answer_json.h"
#include "core/questions/value_kernel.h"

namespace roper {

/// Value kernels of all heads by distance.
struct KernelsAnswer {
    std::vector<ValueKernel> kernels;  ///< layer by layer
};

/// Value kernel of one head at every checkpoint of a run.
struct KernelHistory {
    std::int64_t layer = 0, head = 0;
    std::vector<std::int64_t> steps;   ///< ascending
    std::vector<ValueKernel> kernels;  ///< one per step
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValueKernel, norm, cosine)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelsAnswer, kernels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelHistory, layer, head, steps, kernels)

}  // namespace roper
