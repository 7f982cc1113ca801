#include "ui/charts/beeswarm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace roper {

std::vector<double> beeswarm(const std::vector<double>& along, double diameter, double reach) {
    // 0, then steps of half a diameter to both sides.
    std::vector<double> offsets{0};
    for (double offset = diameter / 2; offset <= reach; offset += diameter / 2)
        offsets.insert(offsets.end(), {offset, -offset});
    std::vector<std::size_t> order(along.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return along[a] < along[b]; });
    std::vector<double> across(along.size());
    for (std::size_t placed = 0; placed < order.size(); ++placed) {
        const std::size_t dot = order[placed];
        double farthest = -1;
        for (const double offset : offsets) {
            double nearest = std::numeric_limits<double>::infinity();
            for (std::size_t i = placed; i > 0 && along[dot] - along[order[i - 1]] < diameter; --i)
                nearest = std::min(
                    nearest, std::hypot(along[dot] - along[order[i - 1]], offset - across[order[i - 1]]));
            // Without a free place, the offset farthest from other dots.
            if (nearest <= farthest) continue;
            farthest = nearest;
            across[dot] = offset;
            if (nearest >= diameter) break;
        }
    }
    return across;
}

}  // namespace roper
