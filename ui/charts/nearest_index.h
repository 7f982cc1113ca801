#pragma once

#include <algorithm>

namespace roper {

/// Index of the number nearest to x.
/// @param xs  ascending, not empty
template <class Numbers>
auto nearestIndex(const Numbers& xs, double x) {
    auto nearest = std::lower_bound(xs.begin(), xs.end(), x);
    if (nearest == xs.end() || (nearest != xs.begin() && x - *(nearest - 1) < *nearest - x)) --nearest;
    return static_cast<decltype(xs.size())>(nearest - xs.begin());
}

}  // namespace roper
