#pragma once

#include <cstdint>
#include <utility>

namespace roper {

/// Wilson's 95 % interval of a probability of which `successes` were seen in `trials` (Wilson 1927). {0, 1}
/// of no trials.
std::pair<double, double> wilsonInterval(std::int64_t successes, std::int64_t trials);

}  // namespace roper
