#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roper {

/// Means of a series around each of its values: over as many before as after it, fewer near the ends, so that
/// no mean lags behind. Values that are not finite are passed over. Every mean takes the same time.
class CentredMean {
  public:
    void append(double value);
    void clear();
    std::size_t size() const { return counts_.size() - 1; }

    /// Mean of the values i − w … i + w, where w is `half_width`, or what there is room for at the nearer
    /// end; NaN if none of them is finite.
    double at(std::size_t i, std::size_t half_width) const;

  private:
    std::vector<double> sums_{0};           ///< of the first k values
    std::vector<std::uint32_t> counts_{0};  ///< of finite ones among them
};

}  // namespace roper
