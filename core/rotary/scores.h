#pragma once

#include <Eigen/Core>

#include "core/rotary/rotation.h"

namespace roper {

/// ⟨R(n)q, R(j)k⟩, unscaled. Depends only on n − j.
double relativeScore(const Rotary& rotary, const Eigen::VectorXd& q, double n, const Eigen::VectorXd& k,
                     double j);

/// Softmax of each row of scores [T × T]; with `causal`, entries right of the diagonal are masked and become
/// 0.
Eigen::MatrixXd attentionWeights(const Eigen::MatrixXd& scores, bool causal);

}  // namespace roper
