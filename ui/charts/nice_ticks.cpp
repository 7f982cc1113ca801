#include "ui/charts/nice_ticks.h"

#include <cmath>

namespace roper {

std::vector<double> niceTicks(double low, double high, int count) {
    if (!(high > low) || !std::isfinite(high - low)) return {low};
    const double rough = (high - low) / count;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
        if (factor * power >= rough) step = factor * power;
    std::vector<double> ticks;
    for (double index = std::ceil(low / step); index * step <= high + 1e-9 * step; ++index)
        ticks.push_back(index * step);
    return ticks;
}

}  // namespace roper
