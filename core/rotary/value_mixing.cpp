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
        arrow.tail = chain.sum;
        chain.sum += arrow.rotated;
        chain.arrows.push_back(arrow);
    }
    return chain;
}

std::vector<DistanceContribution> contributionsByDistance(const ValueChain& chain, int query) {
    const double length = chain.sum.norm();
    std::vector<DistanceContribution> contributions;
    for (const ValueArrow& arrow : chain.arrows)
        contributions.push_back(
            {query - arrow.key, length > 0 ? arrow.rotated.dot(chain.sum) / length : 0.0});
    return contributions;
}

namespace {

/// The sum ô_n of rotated values, rotated back according to the form. [d] → [d]
Eigen::VectorXd rotatedBack(const AttentionForm& form, const Eigen::VectorXd& mixed,
                            const Eigen::VectorXd& positions, int query) {
    return form.output.apply(mixed.transpose(), positions.segment(query, 1)).row(0);
}

}  // namespace

Eigen::VectorXd outputRow(const AttentionForm& form, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                          const Eigen::VectorXd& positions, int query) {
    return rotatedBack(form, form.value.apply(V, positions).transpose() * weights, positions, query);
}

OutputSteps computeOutputSteps(const AttentionForm& form, const AttentionForm& correct,
                               const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                               const Eigen::VectorXd& positions, int query) {
    OutputSteps steps;
    steps.rotated = form.value.apply(V, positions);
    steps.mixed = steps.rotated.transpose() * weights;
    steps.output = rotatedBack(form, steps.mixed, positions, query);
    // In one step: each value is rotated once, by the composition of both rotations.
    steps.direct_output = Eigen::VectorXd::Zero(V.cols());
    for (Eigen::Index j = 0; j < weights.size(); ++j) {
        if (weights[j] == 0) continue;
        const double position = correct.value.direction * (positions[j] + correct.value.offset) +
                                correct.output.direction * (positions[query] + correct.output.offset);
        steps.direct_output += weights[j] * rotate(correct.value.rotary, V.row(j), position);
    }
    return steps;
}

}  // namespace roper
