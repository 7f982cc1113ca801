#pragma once

#include <Eigen/Core>

namespace roper {

/// What a head's attention is like, as means over its queries.
struct HeadStatistics {
    double entropy = 0;         ///< −Σⱼ a log a, nats: 0 looks at one key, log(n+1) at all alike
    double mean_distance = 0;   ///< Σⱼ a |n − j|, positions
    double diagonal = 0;        ///< the largest share of weight at one fixed distance
    int diagonal_distance = 0;  ///< that distance n − j; negative: keys ahead of the query
};

/// @param weights  [T, T], rows are queries
/// @param causal   entries right of the diagonal count as 0
HeadStatistics headStatistics(const Eigen::MatrixXd& weights, bool causal);

}  // namespace roper
