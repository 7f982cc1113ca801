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

/// Statistics of a head's attention weights a, as means over its queries n.
struct HeadStatistics {
    double entropy =
        0;  ///< −Σⱼ a log a, nats: 0 if only one key is attended to, log(n+1) if n+1 keys are, equally
    double mean_distance = 0;  ///< Σⱼ a |n − j|, positions
    /// The largest mean weight at one distance, among distances at which at least half of the queries see a
    /// key.
    double diagonal = 0;
    int diagonal_distance = 0;  ///< that distance n − j; negative: the key follows the query
};

/// @param weights  [T, T], rows are queries
/// @param causal   entries right of the diagonal are treated as 0
HeadStatistics headStatistics(const Eigen::MatrixXd& weights, bool causal);

}  // namespace roper
