#pragma once

#include "core/specification/specification.h"

namespace roper {

/// Learning rate of a step (1 for the first): rises evenly from 0 over the warm-up steps, then stays, or
/// falls to final_fraction of itself at the last step along a cosine or a line.
double learningRate(const Specification::Training& training, std::int64_t step);

}  // namespace roper
