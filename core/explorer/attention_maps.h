#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// Everything needed to score tokens against each other, made once from a setup.
struct ScoreRule {
    AttentionKind attention = AttentionKind::softmax;
    AttentionForm form;
    double attention_factor = 1;  ///< of YaRN, on what is rotated of queries and of keys
    bool causal = true;
    std::vector<int> muted;                    ///< pairs left out
    std::function<double(int distance)> bias;  ///< of the method, by distance n − j; empty if it has none
    /// What each pair of a rotated query or key is multiplied by at a position; empty if by nothing.
    std::function<double(int pair, int pairs, double position, bool is_query)> decay;
};

/// The rule of a setup: with its mistake, or the right one.
ScoreRule scoreRule(const Setup& setup);
ScoreRule rightScoreRule(const Setup& setup);

/// Scores of every query and key, what softmax is taken of: (R q)·(R k)/√d plus the bias
/// of T5 or ALiBi. For linear attention: the similarities that the weights are shares of.
/// heads [T × d] → [T × T], row = query. All positions are moved by `shift`.
Eigen::MatrixXd scores(const ScoreRule& rule, const HeadVectors& heads, double shift = 0.0);

/// One row of them: [T].
Eigen::VectorXd scoreRow(const ScoreRule& rule, const HeadVectors& heads, int query, double shift = 0.0);

/// Attention weights [T × T] of scores: softmax, or for linear attention the share of each similarity. With
/// `causal`, keys right of the query have weight 0. The numerator-only form's denominators come from the
/// unrotated q and k, so its rows need not sum to 1 and may hold negative weights.
Eigen::MatrixXd weights(const ScoreRule& rule, const HeadVectors& heads, const Eigen::MatrixXd& scores);
Eigen::VectorXd weightRow(const ScoreRule& rule, const HeadVectors& heads, const Eigen::VectorXd& score_row,
                          int query);

/// The parts of one score: element i is plane i's (`Rotary::plane`; 0 where it is muted), the last one is the
/// bias. Their sum is the score. [d/2 + 1]
Eigen::VectorXd scoreParts(const ScoreRule& rule, const HeadVectors& heads, int query, int key,
                           double shift = 0.0);

/// o_n for every query: values rotated, mixed by the weights, rotated on as the form says. [T × d]
Eigen::MatrixXd outputs(const ScoreRule& rule, const HeadVectors& heads, const Eigen::MatrixXd& weights,
                        double shift = 0.0);

/// What a mistake does, measured on tokens 0 … T−1: the largest change of any score that is seen (causal: of
/// keys up to the query) and of any output.
struct Residual {
    double scores = 0;
    double outputs = 0;

    double largest() const { return std::max(scores, outputs); }
};

/// Moves all positions by `shift` under the setup's mistake. Zero (to rounding) for the right form.
Residual shiftResidual(const Setup& setup, const HeadVectors& heads, double shift);

/// The setup's mistake against the right form at the same, shifted, positions.
Residual formResidual(const Setup& setup, const HeadVectors& heads, double shift = 0.0);

}  // namespace roper
