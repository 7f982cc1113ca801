#pragma once

#include <rapidcheck.h>
#include <Eigen/Core>

#include "tests/support/make_rotary.h"

namespace roper {

/// A random number between −scale and scale on a fine grid.
inline double anyNumber(double scale) {
    return scale * *rc::gen::inRange(-100000, 100001) / 100000.0;
}

inline Eigen::VectorXd anyVector(int d) {
    Eigen::VectorXd x(d);
    for (auto& value : x)
        value = anyNumber(3.0);
    return x;
}

inline Eigen::MatrixXd anyMatrix(int T, int d) {
    Eigen::MatrixXd X(T, d);
    for (Eigen::Index i = 0; i < X.size(); ++i)
        X.data()[i] = anyNumber(3.0);
    return X;
}

/// A random rotation: any even width, base, frequency formula, pairing and rotated fraction.
inline Rotary anyRotary() {
    const int head_dim = 2 * *rc::gen::inRange(1, 33);
    const double base = std::pow(10.0, 1.0 + 0.01 * *rc::gen::inRange(0, 500));
    const auto pairing = *rc::gen::element(Pairing::half, Pairing::interleaved);
    const auto schedule = *rc::gen::element(FrequencyFormula::standard, FrequencyFormula::worked_example);
    const double fraction = *rc::gen::element(1.0, 0.75, 0.5, 0.25, 0.0);
    return makeRotary(head_dim, pairing, base, schedule, fraction);
}

inline double anyPosition() {
    return *rc::gen::inRange(-2000, 2001);
}

inline double largest(const Eigen::MatrixXd& difference) {
    return difference.size() == 0 ? 0.0 : difference.cwiseAbs().maxCoeff();
}

}  // namespace roper
