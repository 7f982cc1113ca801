#pragma once

#include <vector>

namespace roper {

/// About `count` round numbers from low to high, 1, 2 or 5 times a power of ten apart.
std::vector<double> niceTicks(double low, double high, int count);

}  // namespace roper
