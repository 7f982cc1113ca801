#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace roper {

/// Wilson's 95 % confidence interval of a probability, given `successes` in `trials` (Wilson 1927). {0, 1} if
/// there are no trials.
inline std::pair<double, double> wilsonInterval(std::int64_t successes, std::int64_t trials) {
    if (trials <= 0) return {0, 1};
    constexpr double z = 1.959963984540054;  // for 95 %
    const auto n = static_cast<double>(trials);
    const double p = static_cast<double>(successes) / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

}  // namespace roper
