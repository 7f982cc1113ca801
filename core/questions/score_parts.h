#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "core/questions/answer_json.h"

namespace roper {

/// A head's scores split by features. The score of query n and key j is s_nj = c·q_n·k_j = a_nj + b_nj, where
/// a sums over the features that rotate, b over the others, and c is the model's factor (usually 1/√d); caps,
/// sinks and biases are omitted. In partial rotation and latent attention, a is said to carry position, b
/// content (DeepSeek V2, arXiv 2405.04434, section 2.1.3; Barbero et al. 2024, arXiv 2410.06205). Softmax
/// ignores what all keys of a query have in common, so all numbers but the first two are about deviations:
/// x̂_nj = x_nj − mean_j x_nj for x = a, b or s. "mean" is that over the keys visible to a query, then over
/// the queries with two visible keys or more.
struct ScoreParts {
    std::int64_t layer = 0, head = 0;
    double rotated_mean = 0, unrotated_mean = 0;            ///< mean |a|, mean |b|
    double rotated_deviation = 0, unrotated_deviation = 0;  ///< √mean â², √mean b̂²
    double rotated_share = 0;  ///< share of a in the variance of the scores: mean â·ŝ / mean ŝ²; b has the
                               ///< rest. NaN if neither varies
    double correlation = 0;  ///< mean â·b̂ / √(mean â² · mean b̂²); NaN if a part is constant
    /// Share of each part's variance that the distance alone explains: Σ f(n − j)² / Σ x̂_nj², where f(δ) is
    /// the mean of x̂ at distance δ, and every query has the same weight. NaN if the part is constant.
    double rotated_by_distance = 0, unrotated_by_distance = 0;
    /// Share of queries whose largest score is at the key where the part is largest (the first of equal
    /// keys).
    double rotated_decides = 0, unrotated_decides = 0;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreParts, layer, head, rotated_mean, unrotated_mean, rotated_deviation,
                                   unrotated_deviation, rotated_share, correlation, rotated_by_distance,
                                   unrotated_by_distance, rotated_decides, unrotated_decides)

/// Splits the scores of one head.
/// @param Q, K     [T × d] of two tokens or more, rotated; the rotated features come first
/// @param rotated  number of rotated features
/// @param scale    c
/// @param window   number of visible keys, including the query's own; T or more: all preceding keys
/// @param causal   false: windows extend to both sides
ScoreParts scoreParts(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, Eigen::Index rotated, double scale,
                      Eigen::Index window, bool causal = true);

/// Score parts of every head, layer by layer.
struct ScorePartsAnswer {
    std::vector<std::int64_t> rotated_features;  ///< [layers] number in each head
    std::int64_t features = 0;                   ///< of a head, rotated or not
    std::vector<ScoreParts> heads;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScorePartsAnswer, rotated_features, features, heads)

}  // namespace roper
