#include "core/rotary/value_mixing.h"

#include <Eigen/Geometry>

namespace roper {

ValueChain valueChain(const AttentionForm& form, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                      const Eigen::VectorXd& positions, int query, int pair) {
    ValueChain chain;
    const PairFeatures plane = form.value.rotary.plane(pair);
    for (Eigen::Index j = 0; j < weights.size(); ++j) {
        if (weights[j] == 0) continue;
        ValueArrow arrow;
        arrow.key = static_cast<int>(j);
        arrow.weight = weights[j];
        arrow.value = weights[j] * Eigen::Vector2d(V(j, plane.first), V(j, plane.second));
        arrow.angle = form.value.angle(pair, positions[j]) + form.output.angle(pair, positions[query]);
        arrow.rotated = Eigen::Rotation2Dd(arrow.angle) * arrow.value;
        chain.sum += arrow.rotated;
        chain.arrows.push_back(arrow);
    }
    return chain;
}

std::vector<DistanceContribution> contributionsByDistance(const ValueChain& chain, int query) {
    const double length = chain.sum.norm();
    std::vector<DistanceContribution> shares;
    for (const ValueArrow& arrow : chain.arrows)
        shares.push_back({query - arrow.key, length > 0 ? arrow.rotated.dot(chain.sum) / length : 0.0});
    return shares;
}

namespace {

/// ô_n rotated back according to the form. [d] → [d]
Eigen::VectorXd rotatedBack(const AttentionForm& form, const Eigen::VectorXd& mixed,
                            const Eigen::VectorXd& positions, int query) {
    return form.output.apply(mixed.transpose(), positions.segment(query, 1)).row(0);
}

}  // namespace

Eigen::VectorXd outputRow(const AttentionForm& form, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                          const Eigen::VectorXd& positions, int query) {
    return rotatedBack(form, form.value.apply(V, positions).transpose() * weights, positions, query);
}

OutputSteps computeOutputSteps(const AttentionForm& form, const AttentionForm& right,
                               const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                               const Eigen::VectorXd& positions, int query) {
    OutputSteps row;
    row.rotated = form.value.apply(V, positions);
    row.mixed = row.rotated.transpose() * weights;
    row.output = rotatedBack(form, row.mixed, positions, query);
    // The one-step form rotates each value once, by the composition of both rotations.
    row.direct_output = Eigen::VectorXd::Zero(V.cols());
    for (Eigen::Index j = 0; j < weights.size(); ++j) {
        if (weights[j] == 0) continue;
        const double position = right.value.direction * (positions[j] + right.value.offset) +
                                right.output.direction * (positions[query] + right.output.offset);
        row.direct_output += weights[j] * rotate(right.value.rotary, V.row(j), position);
    }
    return row;
}

}  // namespace roper
