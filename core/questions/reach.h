#pragma once

#include <Eigen/Core>
#include <vector>

namespace roper {

/// How a head's attention depends on the distance δ = n − j, for δ = 0, 1, …, T − 1: means over the queries n
/// that have a token δ positions before them.
struct Reach {
    std::vector<double> weight;  ///< mean a_{n,n−δ}
    /// Mean s_{n,n−δ} − s_{n,n}, in nats: the score less that of the query's own token. NaN where no query
    /// sees both tokens.
    std::vector<double> score;
};

/// @param weights  [T × T] attention weights of softmax: s_nj − s_nn = ln a_nj − ln a_nn, so that no scores
/// are
///                 needed. Weights of 0 are those of tokens that a query does not see.
Reach reachOf(const Eigen::MatrixXd& weights);

}  // namespace roper
