#pragma once

#include <Eigen/Core>
#include <cmath>
#include <functional>
#include <string>

#include "core/rotary/rotation.h"

namespace roper {

// Attention computed by definition, one pair of tokens at a time, as a reference for the program.

/// (R(n)q_n)·(R(j)k_j)/√d. Q, K [T × d], positions [T] → [T × T], row = query.
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

/// How queries weight keys: causal, or all of them.
struct ReferenceAttention {
    std::string kind;  ///< softmax, linear_numerator or linear_cosine
    Rotary query, key;
    std::function<double(double)> bias;  ///< by distance query − key; only for softmax
    bool causal = true;
    /// Factor on pair i of d/2 of a rotated query per unit of position; keys are divided by it. Default 1.
    std::function<double(int pair, int pairs)> decay = [](int, int) { return 1.0; };
    Eigen::Index window = 0;  ///< if causal and not 0: only the last `window` keys
    double sink = -INFINITY;  ///< score of a further key with the value 0; only for softmax
};

/// Attention weights a_nj by definition: Q, K [T × d], positions [T] → [T × T], 0 for masked keys.
inline Eigen::MatrixXd referenceWeights(const ReferenceAttention& attention, const Eigen::MatrixXd& Q,
                                        const Eigen::MatrixXd& K, const Eigen::VectorXd& positions) {
    const auto phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
    // Queries at position m are rotated by m and scaled by decay^m, keys by decay^−m.
    const auto rotated = [&](const Eigen::VectorXd& x, double m, double sign = 1) {
        const Rotary& by = sign > 0 ? attention.query : attention.key;
        Eigen::VectorXd made = rotate(by, x, m);
        for (int i = 0; i < by.pairs(); ++i) {
            const auto [first, second] = by.features(i);
            made[first] *= std::pow(attention.decay(i, by.pairs()), sign * m);
            made[second] *= std::pow(attention.decay(i, by.pairs()), sign * m);
        }
        return made;
    };
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(Q.rows(), K.rows());
    for (Eigen::Index n = 0; n < Q.rows(); ++n) {
        double sum = std::exp(attention.sink);
        const bool is_windowed = attention.window > 0 && n >= attention.window;
        for (Eigen::Index j = is_windowed ? n + 1 - attention.window : 0;
             j <= (attention.causal ? n : K.rows() - 1); ++j) {
            const Eigen::VectorXd q = Q.row(n), k = K.row(j);
            double& weight = weights(n, j);
            double share = 0;
            if (attention.kind == "softmax") {
                const double score = rotated(q, positions[n]).dot(rotated(k, positions[j], -1)) /
                                         std::sqrt(static_cast<double>(q.size())) +
                                     attention.bias(positions[n] - positions[j]);
                weight = share = std::exp(score);
            } else if (attention.kind == "linear_cosine") {
                weight = share =
                    1 + rotated(q, positions[n]).dot(rotated(k, positions[j], -1)) / (q.norm() * k.norm());
            } else {
                const Eigen::VectorXd q_phi = q.unaryExpr(phi), k_phi = k.unaryExpr(phi);
                weight = rotated(q_phi, positions[n]).dot(rotated(k_phi, positions[j], -1));
                share = q_phi.dot(k_phi);
            }
            sum += share;
        }
        weights.row(n) /= sum;
    }
    return weights;
}

/// o_n = Σ_j a_{n,j} R_out(−n) R_value(j) v_j, term by term. weights [T × T], V [T × d] → [T × d]
inline Eigen::MatrixXd referenceMixing(const Rotary& of_values, const Rotary& of_outputs,
                                       const Eigen::MatrixXd& weights, const Eigen::MatrixXd& V,
                                       const Eigen::VectorXd& positions) {
    Eigen::MatrixXd output = Eigen::MatrixXd::Zero(V.rows(), V.cols());
    for (Eigen::Index n = 0; n < weights.rows(); ++n)
        for (Eigen::Index j = 0; j < weights.cols(); ++j)
            if (weights(n, j) != 0)
                output.row(n) +=
                    weights(n, j) *
                    rotate(of_outputs, rotate(of_values, V.row(j), positions[j]), -positions[n]).transpose();
    return output;
}

/// RoPER in one step: o_n = Σ_j a_{n,j} R(j − n) v_j.
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
