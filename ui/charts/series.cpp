#include "ui/charts/series.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace roper {

void CenteredMean::append(double value) {
    const bool counts = std::isfinite(value);
    sums_.push_back(sums_.back() + (counts ? value : 0));
    counts_.push_back(counts_.back() + (counts ? 1 : 0));
}

void CenteredMean::clear() {
    sums_.resize(1);
    counts_.resize(1);
}

double CenteredMean::at(std::size_t i, std::size_t half_width) const {
    const std::size_t width = std::min({half_width, i, size() - 1 - i});
    const std::size_t begin = i - width, end = i + width + 1;
    const auto count = counts_[end] - counts_[begin];
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    return (sums_[end] - sums_[begin]) / static_cast<double>(count);
}

void MinMaxPyramid::append(double x, double y) {
    x_.push_back(x);
    y_.push_back(y);
    if (!std::isfinite(y)) not_finite_.push_back(x);
    // Entry i of the level below; below the lowest level are single points.
    const auto entry = [this](std::size_t level, std::size_t i) {
        return level == 0 ? Entry{i, i} : levels_[level - 1][i];
    };
    for (std::size_t level = 0, span = 2; x_.size() % span == 0; ++level, span *= 2) {
        if (level == levels_.size()) levels_.emplace_back();
        const std::size_t last = 2 * x_.size() / span - 1;
        levels_[level].push_back(join(entry(level, last - 1), entry(level, last)));
    }
}

/// A value that is not finite is an extreme only if there are no numbers.
MinMaxPyramid::Entry MinMaxPyramid::join(Entry a, Entry b) const {
    const auto extreme = [this](std::size_t first, std::size_t second, auto is_beyond) {
        const bool takes_second =
            std::isfinite(y_[second]) && (!std::isfinite(y_[first]) || is_beyond(y_[second], y_[first]));
        return takes_second ? second : first;
    };
    return {extreme(a.least, b.least, std::less()), extreme(a.greatest, b.greatest, std::greater())};
}

std::size_t MinMaxPyramid::firstAtLeast(double x) const {
    return static_cast<std::size_t>(std::lower_bound(x_.begin(), x_.end(), x) - x_.begin());
}

template <class Visit>
void MinMaxPyramid::cover(std::size_t begin, std::size_t end, std::size_t span, Visit visit) const {
    while (begin < end) {
        std::size_t level = 0, length = 1;
        while (level < levels_.size() && length < span) {
            const std::size_t longer = 2 * length;
            if (begin % longer != 0 || begin + longer > end) break;
            if (begin / longer >= levels_[level].size()) break;
            length = longer;
            ++level;
        }
        visit(level == 0 ? Entry{begin, begin} : levels_[level - 1][begin / length]);
        begin += length;
    }
}

void MinMaxPyramid::collect(double low, double high, std::size_t columns, std::vector<double>& xs,
                            std::vector<double>& ys) const {
    xs.clear();
    ys.clear();
    std::size_t begin = firstAtLeast(low);
    if (begin > 0) --begin;
    const std::size_t end = std::min(
        static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), high) - x_.begin()) + 1, x_.size());
    const auto add = [&](std::size_t i) {
        if (!std::isfinite(y_[i])) return;
        xs.push_back(x_[i]);
        ys.push_back(y_[i]);
    };
    const std::size_t span = (end - begin) / std::max<std::size_t>(1, columns) + 1;
    cover(begin, end, span, [&](const Entry& entry) {
        add(std::min(entry.least, entry.greatest));
        if (entry.least != entry.greatest) add(std::max(entry.least, entry.greatest));
    });
}

MinMaxPyramid::Range MinMaxPyramid::range(double low, double high) const {
    Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    const std::size_t end =
        static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), high) - x_.begin());
    cover(firstAtLeast(low), end, std::numeric_limits<std::size_t>::max(), [&](const Entry& entry) {
        for (const std::size_t i : {entry.least, entry.greatest}) {
            if (!std::isfinite(y_[i])) continue;
            range.low = std::min(range.low, y_[i]);
            range.high = std::max(range.high, y_[i]);
        }
    });
    return range;
}

}  // namespace roper
