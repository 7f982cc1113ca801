#pragma once

#include <cstdint>
#include <utility>

namespace roper {

/// Wilson's 95 % confidence interval of a probability, given `successes` in `trials` (Wilson 1927). {0, 1} if
/// there are no trials.
std::pair<double, double> wilsonInterval(std::int64_t successes, std::int64_t trials);

}  // namespace roper
