#include "core/rotary/spectrum.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "core/rotary/position_bias.h"

namespace roper {
namespace {

/// (1/pairs) Σ_j |Σ_{i<j} w_i^Δ e^{iΔθ_i}|
Eigen::VectorXd meanPartialSum(const Eigen::VectorXd& theta, const Eigen::VectorXd& weights, int distances) {
    Eigen::VectorXd curve = Eigen::VectorXd::Zero(distances);
    for (int distance = 0; distance < distances; ++distance) {
        std::complex<double> sum = 0;
        for (Eigen::Index i = 0; i < theta.size(); ++i) {
            sum += std::polar(std::pow(weights[i], distance), distance * theta[i]);
            curve[distance] += std::abs(sum);
        }
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
    const Eigen::VectorXd step = xposBases(static_cast<int>(theta.size())).array().pow(1 / kXposScaleBase);
    return meanPartialSum(theta, step, distances);
}

Eigen::VectorXd baseBound(const Eigen::VectorXd& theta, int length) {
    // Each block begins with exact sines and cosines; inside it the angle grows by a rotation, which is ten
    // times faster than a cosine and stays exact to 1e-14.
    constexpr int kBlock = 64;
    Eigen::VectorXd bound = Eigen::VectorXd::Zero(length + 1);
    const Eigen::ArrayXd step_cosine = theta.array().cos(), step_sine = theta.array().sin();
    Eigen::ArrayXd cosine, sine, next;
    for (int m = 0; m <= length; ++m) {
        if (m % kBlock == 0) {
            cosine = (theta.array() * m).cos();
            sine = (theta.array() * m).sin();
        } else {
            next = cosine * step_cosine - sine * step_sine;
            sine = sine * step_cosine + cosine * step_sine;
            cosine.swap(next);
        }
        bound[m] = cosine.sum();
    }
    return bound;
}

int firstNegative(const Eigen::VectorXd& base_bound) {
    for (Eigen::Index m = 1; m < base_bound.size(); ++m)
        if (base_bound[m] < 0) return static_cast<int>(m);
    return -1;
}

int pairsTurningWithin(const Eigen::VectorXd& theta, double length) {
    return static_cast<int>((theta.array() * length >= 2 * std::numbers::pi).count());
}

}  // namespace roper
