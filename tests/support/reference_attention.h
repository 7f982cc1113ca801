#pragma once

#include <Eigen/Core>
#include <cmath>

#include "core/rotary/rotation.h"

namespace roper {

// Attention written down as its definition, one pair of tokens at a time, to hold the program's own against.

/// (R(m)q_m)·(R(n)k_n)/√d. Q, K [T × d], positions [T] → [T × T], row = query.
inline Eigen::MatrixXd referenceScores(const Rotary& rotary, const Eigen::MatrixXd& Q,
                                       const Eigen::MatrixXd& K, const Eigen::VectorXd& positions) {
    Eigen::MatrixXd scores(Q.rows(), K.rows());
    for (Eigen::Index n = 0; n < Q.rows(); ++n)
        for (Eigen::Index j = 0; j < K.rows(); ++j)
            scores(n, j) =
                rotate(rotary, Q.row(n), positions[n]).dot(rotate(rotary, K.row(j), positions[j])) /
                std::sqrt(static_cast<double>(rotary.head_dim));
    return scores;
}

/// RoPER in one step: o_n = Σ_j a_{n,j} R(j − n) v_j. weights [T × T], V [T × d] → [T × d]
inline Eigen::MatrixXd referenceMixing(const Rotary& rotary, const Eigen::MatrixXd& weights,
                                       const Eigen::MatrixXd& V, const Eigen::VectorXd& positions) {
    Eigen::MatrixXd output = Eigen::MatrixXd::Zero(V.rows(), V.cols());
    for (Eigen::Index n = 0; n < weights.rows(); ++n)
        for (Eigen::Index j = 0; j < weights.cols(); ++j)
            if (weights(n, j) != 0)
                output.row(n) +=
                    weights(n, j) * rotate(rotary, V.row(j), positions[j] - positions[n]).transpose();
    return output;
}

}  // namespace roper
