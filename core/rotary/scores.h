#pragma once

#include <Eigen/Core>

#include "core/rotary/rotation.h"

namespace roper {

/// ⟨R(m)q, R(n)k⟩, unscaled. Depends on m − n alone.
double relativeScore(const Rotary& rotary, const Eigen::VectorXd& q, double m, const Eigen::VectorXd& k,
                     double n);

/// The same score split by pair: element i is the part of pair i, and one last element is the part of the
/// features that do not turn. Their sum is `relativeScore`.
Eigen::VectorXd scoreByPair(const Rotary& rotary, const Eigen::VectorXd& q, double m,
                            const Eigen::VectorXd& k, double n);

/// Scaled scores ⟨R(m)q_m, R(n)k_n⟩/√d for all pairs of positions. Q, K [T × d], positions [T] → [T × T],
/// row = query.
Eigen::MatrixXd scaledScores(const Rotary& rotary, const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K,
                             const Eigen::VectorXd& positions);

/// Softmax of each row of scores [T × T]; with `causal`, entries right of the diagonal are left out and are
/// 0.
Eigen::MatrixXd attentionWeights(const Eigen::MatrixXd& scores, bool causal);

}  // namespace roper
