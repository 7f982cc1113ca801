#pragma once

#include <Eigen/Core>

#include "core/rotary/rotation.h"

namespace roper {

/// What makes a head's scores differ from key to key.
struct BandUse {
    Eigen::VectorXd
        share;  ///< of each pair, the fastest first; may be negative where a pair works against the others
    double rest = 0;      ///< of the features that do not rotate; all shares sum to 1
    double variance = 0;  ///< of the scores over the keys that a query sees, mean over queries
};

/// Splits the variance of scores s_nj = q_n·k_j over the keys j that query n sees into what each pair
/// contributes: Σ_n cov_j(s_nj of the pair, s_nj) / Σ_n var_j(s_nj). Softmax ignores what all keys have in
/// common, so this, and not the size of a pair's scores, says what a pair does.
/// @param Q, K    [T × d], rotated
/// @param rotary  which features make a pair
/// @param window  a query sees itself and this many keys less one before it; T or more: all before it
/// @param causal  otherwise every query sees all keys
BandUse bandUse(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, const Rotary& rotary, Eigen::Index window,
                bool causal = true);

}  // namespace roper
