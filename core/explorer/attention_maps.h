#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// How scores, weights and outputs follow from queries, keys and values; derived once from a setup.
struct ScoreFormula {
    AttentionKind attention = AttentionKind::softmax;
    AttentionForm form;
    double attention_factor = 1;  ///< YaRN and LongRoPE: multiplies rotated features of queries and keys
    bool causal = true;
    std::vector<int> ablated_pairs;            ///< indices as in `Rotary::plane`, omitted from scores
    std::function<double(int distance)> bias;  ///< of the method, by distance n − j; empty if it has none
    /// Factor of each pair of a rotated query or key at a position; empty if there is none.
    std::function<double(int pair, int pairs, double position, bool is_query)> decay;
};

/// The rule of a setup: with the mistake that it simulates, and without.
ScoreFormula scoreFormula(const Setup& setup);
ScoreFormula correctScoreRule(const Setup& setup);

/// Scores of all queries and keys, the argument of softmax: (R q)·(R k)/√d plus the bias of T5 or ALiBi. For
/// linear attention: the similarities that are normalized to weights. heads [T × d] → [T × T], row = query.
/// `shift` is added to all positions.
Eigen::MatrixXd scores(const ScoreFormula& rule, const HeadVectors& heads, double shift = 0.0);

/// The scores of one query: [T].
Eigen::VectorXd scoreRow(const ScoreFormula& rule, const HeadVectors& heads, int query, double shift = 0.0);

/// Attention weights [T × T] from scores: softmax, or for linear attention normalized similarities. With
/// `causal`, keys right of the query have weight 0. For linear_numerator, the denominators come from the
/// unrotated q and k, so rows need not sum to 1 and weights may be negative.
Eigen::MatrixXd weights(const ScoreFormula& rule, const HeadVectors& heads, const Eigen::MatrixXd& scores);
Eigen::VectorXd weightRow(const ScoreFormula& rule, const HeadVectors& heads,
                          const Eigen::VectorXd& score_row, int query);

/// Contributions to one score: element i is that of plane i (`Rotary::plane`; 0 if ablated), the last element
/// is the bias. They sum to the score. [d/2 + 1]
Eigen::VectorXd scoreContributions(const ScoreFormula& rule, const HeadVectors& heads, int query, int key,
                                   double shift = 0.0);

/// o_n for every query: values rotated, summed with the weights, rotated back according to the form. [T × d]
Eigen::MatrixXd outputs(const ScoreFormula& rule, const HeadVectors& heads, const Eigen::MatrixXd& weights,
                        double shift = 0.0);

/// Effect of a mistake on tokens 0 … T−1: the largest change of any visible score (causal: of keys up to the
/// query) and of any output.
struct MistakeEffect {
    double scores = 0;
    double outputs = 0;

    double largest() const { return std::max(scores, outputs); }
};

/// Effect of adding `shift` to all positions under the setup's mistake. Zero (up to rounding) for the correct
/// form.
MistakeEffect shiftEffect(const Setup& setup, const HeadVectors& heads, double shift);

/// Difference between the setup's mistake and the correct form at the same, shifted, positions.
MistakeEffect formEffect(const Setup& setup, const HeadVectors& heads, double shift = 0.0);

/// Scores of all queries with the keys at one distance n − j.
struct DistanceScores {
    int distance = 0;
    double mean = 0, minimum = 0, maximum = 0;
};

/// Scores by distance, ascending; with causal attention from 0.
/// @param max_queries  in longer texts only this many evenly spaced queries are used
std::vector<DistanceScores> scoresByDistance(const ScoreFormula& rule, const HeadVectors& heads,
                                             double shift = 0, int max_queries = 128);

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
