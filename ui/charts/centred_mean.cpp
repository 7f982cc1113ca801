#include "ui/charts/centred_mean.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roper {

void CentredMean::append(double value) {
    const bool counts = std::isfinite(value);
    sums_.push_back(sums_.back() + (counts ? value : 0));
    counts_.push_back(counts_.back() + (counts ? 1 : 0));
}

void CentredMean::clear() {
    sums_.resize(1);
    counts_.resize(1);
}

double CentredMean::at(std::size_t i, std::size_t half_width) const {
    const std::size_t width = std::min({half_width, i, size() - 1 - i});
    const std::size_t begin = i - width, end = i + width + 1;
    const auto count = counts_[end] - counts_[begin];
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    return (sums_[end] - sums_[begin]) / static_cast<double>(count);
}

}  // namespace roper
