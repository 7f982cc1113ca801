#pragma once

#include <vector>

namespace roper {

/// About `wanted` round numbers (1, 2 or 5 times a power of ten apart) from low to high.
std::vector<double> niceTicks(double low, double high, int wanted);

}  // namespace roper
