#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roper {

/// Centred moving averages of a series. Near the ends windows shrink symmetrically, so that averages do not
/// lag. Values that are not finite are skipped. Each average takes constant time.
class CentredMean {
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

}  // namespace roper
