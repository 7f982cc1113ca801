#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace roper {

/// Index of the number nearest to x.
/// @param xs  ascending, not empty
template <class Numbers>
auto nearestIndex(const Numbers& xs, double x) {
    auto nearest = std::lower_bound(xs.begin(), xs.end(), x);
    if (nearest == xs.end() || (nearest != xs.begin() && x - *(nearest - 1) < *nearest - x)) --nearest;
    return static_cast<decltype(xs.size())>(nearest - xs.begin());
}

/// Centered moving averages of a series. Near the ends windows shrink symmetrically, so that averages do not
/// lag. Values that are not finite are skipped. Each average takes constant time.
class CenteredMean {
  public:
    void append(double value);
    void clear();
    std::size_t size() const { return counts_.size() - 1; }

    /// Mean of the values i − w … i + w, where w is `half_width` or the distance to the nearer end if that is
    /// smaller; NaN if none of them is finite.
    double at(std::size_t i, std::size_t half_width) const;

  private:
    std::vector<double> sums_{0};           ///< prefix sums: of the first k values
    std::vector<std::uint32_t> counts_{0};  ///< number of finite ones among them
};

/// A series of points with ascending x, with levels above it that each hold the minimum and maximum y of two
/// entries of the level below. Appending takes amortized constant time; any range is drawn from a few entries
/// per pixel without losing spikes. NaN and infinite y are stored separately: they are marked, not drawn.
class MinMaxPyramid {
  public:
    void append(double x, double y);
    void clear() { *this = {}; }

    bool empty() const { return x_.empty(); }
    const std::vector<double>& x() const { return x_; }
    const std::vector<double>& y() const { return y_; }

    /// Points to draw for x from `low` to `high` in at most about `columns` columns: the minimum and maximum
    /// y of each column in order of x. One point beyond each end is included, so that lines reach the edge.
    /// Points that are not finite are omitted.
    void collect(double low, double high, std::size_t columns, std::vector<double>& xs,
                 std::vector<double>& ys) const;

    /// x of y values that are not finite.
    const std::vector<double>& notFinite() const { return not_finite_; }

    struct Range {
        double low, high;
    };
    /// Minimum and maximum finite y for x in [low, high]; empty range (low > high) if there is none.
    Range range(double low, double high) const;

  private:
    struct Entry {
        std::size_t least, greatest;  ///< indices of points
    };
    std::size_t firstAtLeast(double x) const;
    Entry join(Entry a, Entry b) const;
    /// Calls visit(entry) for entries that together cover the points [begin, end), each of the smallest size
    /// of at least `span` points, or smaller at the ends.
    template <class Visit>
    void cover(std::size_t begin, std::size_t end, std::size_t span, Visit visit) const;

    std::vector<double> x_, y_;
    std::vector<double> not_finite_;
    std::vector<std::vector<Entry>> levels_;  ///< levels_[k][i] covers 2^(k+1) points; complete entries only
};

}  // namespace roper
