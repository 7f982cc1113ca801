#pragma once

#include <Eigen/Core>

#include "core/rotary/rotation.h"

namespace roper {

/// ⟨R(m)q, R(n)k⟩, unscaled. Depends on m − n alone.
double relativeScore(const Rotary& rotary, const Eigen::VectorXd& q, double m, const Eigen::VectorXd& k,
                     double n);

/// Softmax of each row of scores [T × T]; with `causal`, entries right of the diagonal are left out and are
/// 0.
Eigen::MatrixXd attentionWeights(const Eigen::MatrixXd& scores, bool causal);

}  // namespace roper
