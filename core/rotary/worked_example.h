#pragma once

#include <vector>

#include "core/rotary/rotation.h"

namespace roper {

/// One pair of a worked rotation, with all intermediate numbers.
struct WorkedPair {
    int first, second;                      ///< features of the pair
    double theta;                           ///< radians per position
    double angle;                           ///< position·θ, radians
    double cosine, sine;                    ///< of the angle
    double x1, x2;                          ///< the pair before rotation
    double x1_cos, x2_sin, x1_sin, x2_cos;  ///< the four products
    double y1, y2;                          ///< x1_cos − x2_sin and x1_sin + x2_cos
};

/// A rotation with all intermediate numbers, computed exactly and with rounded sines and cosines, as on
/// paper.
struct WorkedExample {
    double position = 0;
    std::vector<WorkedPair> exact;
    std::vector<WorkedPair> rounded;  ///< cos and sin rounded to `decimals` places before multiplication
    int decimals = 2;
    Eigen::VectorXd result;          ///< exact [d]
    Eigen::VectorXd rounded_result;  ///< [d]

    /// The largest |result − rounded_result|: the error caused by rounding cosine and sine.
    double largestDifference() const;
};

/// Computes R(position)·x pair by pair.
/// @throws std::invalid_argument if x does not have head_dim features
WorkedExample computeWorkedExample(const Rotary& rotary, const Eigen::VectorXd& x, double position,
                                   int decimals = 2);

/// The worked example of a widely read introduction to position embeddings: the token "cat" at position 3, d
/// = 4, x = [0.5, −1, 1.5, 2], frequencies [1, 0.1] (base 10000 under its own frequency formula),
/// interleaved. Exact: [−0.353876, 1.060553, 0.841964, 2.353953].
WorkedExample workedExample();

}  // namespace roper
