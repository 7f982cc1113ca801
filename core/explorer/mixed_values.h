#pragma once

#include "core/explorer/setup.h"

namespace roper {

/// The weighted sum of attention for one query: o = Σ_j a_j v_j.
struct MixedValues {
    Eigen::VectorXd weights;  ///< a  [T]
    Eigen::MatrixXd V;        ///< v  [T × d]
};

/// The summands on the Value mixing page. For `MixedTokens::one` and `two` all tokens have the same value,
/// with length 1 in every pair, so that the sum shows only their positions: all weight on the key, or half on
/// it and half on the query itself.
/// @param weights, V  of attention, for `MixedTokens::all`
MixedValues mixedValues(const Setup& setup, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                        int query, int key);

}  // namespace roper
