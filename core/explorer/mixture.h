#pragma once

#include "core/explorer/setup.h"

namespace roper {

/// What attention adds up for one query: o = Σ_j a_j v_j.
struct MixedValues {
    Eigen::VectorXd weights;  ///< a  [T]
    Eigen::MatrixXd V;        ///< v  [T × d]
};

/// The values that Value mixing adds up. For `Mixture::one` and `two` all tokens have the same value, one of
/// length 1 in every pair, so that only where they stand can be seen in the sum: all weight on the key, or
/// half of it there and half on the query itself.
/// @param weights, V  of attention, for `Mixture::all`
MixedValues mixedValues(const Setup& setup, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                        int query, int key);

}  // namespace roper
