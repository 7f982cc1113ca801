#pragma once

namespace roper {

/// Exponential mean of a series with its start put right, as TensorBoard does: s ← w·s + (1 − w)·y, shown as
/// s/(1 − wⁿ). Values that are not finite are passed over.
class Smoothing {
  public:
    /// @param weight  of the past, 0 ≤ w < 1; 0 smooths nothing
    explicit Smoothing(double weight) : weight_(weight) {}

    double add(double value);

  private:
    double weight_;
    double sum_ = 0;
    double share_ = 0;
};

}  // namespace roper
