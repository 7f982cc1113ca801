#include "core/rotary/rotation.h"

#include <cmath>
#include <complex>
#include <stdexcept>
#include <string>

namespace roper {
namespace {

void requireWidth(const Rotary& rotary, Eigen::Index features) {
    if (features != rotary.head_dim)
        throw std::invalid_argument("this rotation is for vectors of " + std::to_string(rotary.head_dim) +
                                    " features, not " + std::to_string(features));
}

}  // namespace

Eigen::VectorXd rotate(const Rotary& rotary, const Eigen::VectorXd& x, double position) {
    requireWidth(rotary, x.size());
    Eigen::VectorXd rotated = x;
    for (int i = 0; i < rotary.pairs(); ++i) {
        const auto [first, second] = rotary.features(i);
        const double c = std::cos(position * rotary.theta[i]);
        const double s = std::sin(position * rotary.theta[i]);
        rotated[first] = x[first] * c - x[second] * s;
        rotated[second] = x[first] * s + x[second] * c;
    }
    return rotated;
}

Eigen::MatrixXd rotateRows(const Rotary& rotary, const Eigen::MatrixXd& X, const Eigen::VectorXd& positions) {
    requireWidth(rotary, X.cols());
    if (positions.size() != X.rows())
        throw std::invalid_argument(std::to_string(X.rows()) +
                                    " rows need the same number of positions, not " +
                                    std::to_string(positions.size()));
    Eigen::MatrixXd rotated = X;
    for (int i = 0; i < rotary.pairs(); ++i) {
        const auto [first, second] = rotary.features(i);
        const Eigen::ArrayXd angle = positions.array() * rotary.theta[i];
        const Eigen::ArrayXd c = angle.cos();
        const Eigen::ArrayXd s = angle.sin();
        rotated.col(first) = X.col(first).array() * c - X.col(second).array() * s;
        rotated.col(second) = X.col(first).array() * s + X.col(second).array() * c;
    }
    return rotated;
}

Eigen::VectorXd rotateElementwise(const Rotary& rotary, const Eigen::VectorXd& x, double position) {
    requireWidth(rotary, x.size());
    Eigen::ArrayXd partner = Eigen::ArrayXd::Zero(x.size());
    Eigen::ArrayXd c = Eigen::ArrayXd::Ones(x.size());
    Eigen::ArrayXd s = Eigen::ArrayXd::Zero(x.size());
    for (int i = 0; i < rotary.pairs(); ++i) {
        const auto [first, second] = rotary.features(i);
        partner[first] = -x[second];
        partner[second] = x[first];
        c[first] = c[second] = std::cos(position * rotary.theta[i]);
        s[first] = s[second] = std::sin(position * rotary.theta[i]);
    }
    return x.array() * c + partner * s;
}

Eigen::VectorXd rotateComplex(const Rotary& rotary, const Eigen::VectorXd& x, double position) {
    requireWidth(rotary, x.size());
    Eigen::VectorXd rotated = x;
    for (int i = 0; i < rotary.pairs(); ++i) {
        const auto [first, second] = rotary.features(i);
        const std::complex<double> z =
            std::complex<double>(x[first], x[second]) * std::polar(1.0, position * rotary.theta[i]);
        rotated[first] = z.real();
        rotated[second] = z.imag();
    }
    return rotated;
}

Eigen::MatrixXd rotationMatrix(const Rotary& rotary, double position) {
    Eigen::MatrixXd R = Eigen::MatrixXd::Identity(rotary.head_dim, rotary.head_dim);
    for (int i = 0; i < rotary.pairs(); ++i) {
        const auto [first, second] = rotary.features(i);
        const double c = std::cos(position * rotary.theta[i]);
        const double s = std::sin(position * rotary.theta[i]);
        R(first, first) = R(second, second) = c;
        R(first, second) = -s;
        R(second, first) = s;
    }
    return R;
}

double FourWays::largestDifference() const {
    double largest = 0;
    for (const Eigen::VectorXd* one : all())
        for (const Eigen::VectorXd* other : all())
            largest = std::max(largest, (*one - *other).cwiseAbs().maxCoeff());
    return largest;
}

FourWays rotateFourWays(const Rotary& rotary, const Eigen::VectorXd& x, double position) {
    return {rotate(rotary, x, position), rotateElementwise(rotary, x, position),
            rotateComplex(rotary, x, position), rotationMatrix(rotary, position) * x};
}

Eigen::VectorXd consecutivePositions(int T, double shift) {
    if (T == 0) return {};
    return Eigen::VectorXd::LinSpaced(T, shift, shift + T - 1);
}

}  // namespace roper
