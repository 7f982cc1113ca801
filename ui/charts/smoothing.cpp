#include "ui/charts/smoothing.h"

#include <cmath>

namespace roper {

double Smoothing::add(double value) {
    if (std::isfinite(value)) {
        sum_ = weight_ * sum_ + (1 - weight_) * value;
        share_ = weight_ * share_ + (1 - weight_);
    }
    return share_ > 0 ? sum_ / share_ : value;
}

}  // namespace roper
