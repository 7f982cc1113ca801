#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/rotary/attention_form.h"
#include "core/rotary/head_vectors.h"

namespace roper {

/// Contribution of one key to the output of one query, in the plane of one pair.
struct ValueArrow {
    int key = 0;
    double weight = 0;
    Eigen::Vector2d value{0, 0};    ///< a_nj v_j, unrotated
    Eigen::Vector2d rotated{0, 0};  ///< `value` rotated as the attention form says: for RoPER by (j − n)θ
    double angle = 0;               ///< radians from `value` to `rotated`
    Eigen::Vector2d tail{0, 0};     ///< its begin in the chain: the tip of the arrow before it

    Eigen::Vector2d tip() const { return tail + rotated; }
};

/// The output of one query in the plane of one pair: a sum of weighted values, drawn as arrows head to tail.
struct ValueChain {
    std::vector<ValueArrow> arrows;
    Eigen::Vector2d sum{0, 0};  ///< of `rotated` over all arrows: the query's output o_n in this plane
};

/// @param weights    attention weights a_nj of the query [T]; keys with weight 0 have no arrow
/// @param V          values before rotation [T × d]
/// @param positions  [T]
/// @param query      row n of the query
/// @param pair       index of a plane (`Rotary::plane`)
ValueChain valueChain(const AttentionForm& form, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                      const Eigen::VectorXd& positions, int query, int pair);

/// Contribution of each distance δ = n − j to the length of o_n: the projection of the key's arrow onto the
/// direction of the sum. The contributions sum to |o_n|.
struct DistanceContribution {
    int distance;
    double contribution;
};
std::vector<DistanceContribution> contributionsByDistance(const ValueChain& chain, int query);

/// Output o_n of one query: the weighted sum of rotated values, rotated back according to the form. [d]
Eigen::VectorXd outputRow(const AttentionForm& form, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                          const Eigen::VectorXd& positions, int query);

/// One query's output, computed in three steps by a form that may have a mistake, and in one by the correct
/// form.
struct OutputSteps {
    Eigen::MatrixXd rotated;        ///< v'_j = R(j)v_j          [T × d]
    Eigen::VectorXd mixed;          ///< ô_n = Σ_j a_nj v'_j     [d]
    Eigen::VectorXd output;         ///< o_n = R(−n)ô_n          [d]
    Eigen::VectorXd direct_output;  ///< Σ_j a_nj R(j − n)v_j, by the correct form [d]

    /// Largest |output − direct_output|: only rounding error if the form is correct.
    double largestDifference() const { return (output - direct_output).cwiseAbs().maxCoeff(); }
};
OutputSteps computeOutputSteps(const AttentionForm& form, const AttentionForm& correct,
                               const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                               const Eigen::VectorXd& positions, int query);

}  // namespace roper
