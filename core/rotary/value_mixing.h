#pragma once

#include <Eigen/Core>

#include "core/rotary/rotation.h"

namespace roper {

/// RoPER's three steps, each kept so that it can be shown.
struct ValueMixing {
    Eigen::MatrixXd rotated;  ///< v'_j = R(j)v_j                    [T × d]
    Eigen::MatrixXd mixed;    ///< ô_n = Σ_j a_{n,j} v'_j            [T × d]
    Eigen::MatrixXd output;   ///< o_n = R(−n)ô_n                    [T × d]
};

/// RoPER in three steps: rotate the values, mix them, rotate the mix back. (Harik & Jayasiri 2022)
/// @param weights    a_{n,j} [T × T], row = query
/// @param V          values [T × d]
/// @param positions  of the tokens [T]
ValueMixing mixValuesInThreeSteps(const Rotary& rotary, const Eigen::MatrixXd& weights,
                                  const Eigen::MatrixXd& V, const Eigen::VectorXd& positions);

/// The same output in one step: o_n = Σ_j a_{n,j} R(j − n) v_j. Costs T² rotations; kept to check and to
/// explain.
Eigen::MatrixXd mixValuesInOneStep(const Rotary& rotary, const Eigen::MatrixXd& weights,
                                   const Eigen::MatrixXd& V, const Eigen::VectorXd& positions);

}  // namespace roper
