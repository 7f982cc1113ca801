#pragma once

#include "core/specification/specification.h"

namespace roper {

/// Learning rate of a step (1 for the first): linear warm-up from 0, then constant, or cosine or
/// linear decay to final_fraction of the peak at the last step.
double learningRate(const Specification::Training& training, std::int64_t step);

}  // namespace roper
