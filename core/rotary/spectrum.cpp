#include "core/rotary/spectrum.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "core/rotary/position_bias.h"

namespace roper {
namespace {

/// w_i^m cos(mθ_i) and w_i^m sin(mθ_i) of all pairs i with weights w for m = 0, 1, 2, … in this order. Every
/// 64th m is computed by sine and cosine; the others follow from m − 1 by a rotation, which is ten times
/// faster and accurate to 1e-14.
class RotatingPhasors {
  public:
    RotatingPhasors(const Eigen::VectorXd& theta, const Eigen::VectorXd& weights)
        : theta_(theta),
          weights_(weights),
          step_cosine_(weights_ * theta_.cos()),
          step_sine_(weights_ * theta_.sin()) {}

    const Eigen::ArrayXd& cosine() const { return cosine_; }
    const Eigen::ArrayXd& sine() const { return sine_; }

    void advanceTo(int m) {
        constexpr int kBlock = 64;
        if (m % kBlock == 0) {
            const Eigen::ArrayXd magnitude = weights_.pow(m);
            cosine_ = magnitude * (theta_ * m).cos();
            sine_ = magnitude * (theta_ * m).sin();
        } else {
            next_ = cosine_ * step_cosine_ - sine_ * step_sine_;
            sine_ = sine_ * step_cosine_ + cosine_ * step_sine_;
            cosine_.swap(next_);
        }
    }

  private:
    Eigen::ArrayXd theta_, weights_, step_cosine_, step_sine_, cosine_, sine_, next_;
};

/// (1/pairs) Σ_j |Σ_{i<j} w_i^δ e^{√−1·δθ_i}| for the distances δ = 0 … distances − 1.
Eigen::VectorXd meanPartialSum(const Eigen::VectorXd& theta, const Eigen::VectorXd& weights, int distances) {
    Eigen::VectorXd curve = Eigen::VectorXd::Zero(distances);
    RotatingPhasors phasors(theta, weights);
    Eigen::ArrayXd real(theta.size()), imaginary(theta.size());
    for (int distance = 0; distance < distances; ++distance) {
        phasors.advanceTo(distance);
        std::partial_sum(phasors.cosine().begin(), phasors.cosine().end(), real.begin());
        std::partial_sum(phasors.sine().begin(), phasors.sine().end(), imaginary.begin());
        curve[distance] = (real.square() + imaginary.square()).sqrt().sum();
    }
    return curve / static_cast<double>(std::max<Eigen::Index>(theta.size(), 1));
}

}  // namespace

Eigen::MatrixXd cosineMap(const Eigen::VectorXd& theta, int distances) {
    const Eigen::RowVectorXd distance = Eigen::RowVectorXd::LinSpaced(distances, 0, distances - 1);
    return (theta * distance).array().cos();
}

Eigen::VectorXd decayCurve(const Eigen::VectorXd& theta, int distances) {
    return meanPartialSum(theta, Eigen::VectorXd::Ones(theta.size()), distances);
}

Eigen::VectorXd xposDecayCurve(const Eigen::VectorXd& theta, int distances) {
    const auto pairs = static_cast<int>(theta.size());
    Eigen::VectorXd step(pairs);
    for (int i = 0; i < pairs; ++i)
        step[i] = std::pow(xposBase(i, pairs), 1 / kXposScaleBase);
    return meanPartialSum(theta, step, distances);
}

Eigen::VectorXd baseBound(const Eigen::VectorXd& theta, int length) {
    Eigen::VectorXd bound(length + 1);
    RotatingPhasors phasors(theta, Eigen::VectorXd::Ones(theta.size()));
    for (int m = 0; m <= length; ++m) {
        phasors.advanceTo(m);
        bound[m] = phasors.cosine().sum();
    }
    return bound;
}

int firstNegative(const Eigen::VectorXd& base_bound) {
    for (Eigen::Index m = 1; m < base_bound.size(); ++m)
        if (base_bound[m] < 0) return static_cast<int>(m);
    return -1;
}

int pairsCompletingRotation(const Eigen::VectorXd& theta, double length) {
    return static_cast<int>((theta.array() * length >= 2 * std::numbers::pi).count());
}

}  // namespace roper
