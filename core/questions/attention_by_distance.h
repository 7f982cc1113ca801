#pragma once

#include <Eigen/Core>
#include <vector>

namespace roper {

/// A head's attention by distance δ = n − j, or |n − j| in a bidirectional model, for δ = 0, 1, …, T − 1:
/// means over all queries n and keys j at this distance.
struct AttentionByDistance {
    std::vector<double> weight;  ///< mean a_{n,n−δ}
    /// Mean s_{n,n−δ} − s_{n,n} in nats: the score minus the score of the query's own token. NaN if no query
    /// sees both tokens.
    std::vector<double> score;
};

/// @param weights  [T × T] softmax attention weights, from which score differences follow: s_nj − s_nn = ln
/// a_nj − ln a_nn. Weights of 0 are those of masked tokens.
/// @param causal   false: keys on both sides are counted
AttentionByDistance attentionByDistance(const Eigen::MatrixXd& weights, bool causal = true);

}  // namespace roper
