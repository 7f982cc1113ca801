#include "core/rotary/value_mixing.h"

#include <gtest/gtest.h>

#include "core/rotary/scores.h"
#include "tests/support/make_rotary.h"
#include "tests/support/random_vectors.h"
#include "tests/support/reference_attention.h"

namespace roper {
namespace {

struct Scene {
    Rotary rotary;
    Eigen::MatrixXd weights, V;
    Eigen::VectorXd positions;
    int T, query, pair;

    ValueChain chainOf(const AttentionForm& form) const {
        return valueChain(form, weights.row(query), V, positions, query, pair);
    }
};

Scene anyScene() {
    Scene s;
    s.rotary = anyRotary();
    s.T = *rc::gen::inRange(1, 9);
    s.weights = attentionWeights(anyMatrix(s.T, s.T), true);
    s.V = anyMatrix(s.T, s.rotary.head_dim);
    s.positions = consecutivePositions(s.T, *rc::gen::inRange(-50, 50));
    s.query = *rc::gen::inRange(0, s.T);
    s.pair = *rc::gen::inRange(0, s.rotary.planes());
    return s;
}

TEST(ValueMixing, TheChainEndsAtTheOutput) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        const Eigen::MatrixXd roper = referenceMixing(s.rotary, s.weights, s.V, s.positions);
        const Eigen::MatrixXd rope = s.weights * s.V;
        const auto [first, second] = s.rotary.plane(s.pair);
        const ValueChain rotated = s.chainOf(roperForm(s.rotary, s.rotary)),
                         plain = s.chainOf(formOf(kRopeTensors, s.rotary, s.rotary));
        RC_ASSERT((rotated.sum - Eigen::Vector2d(roper(s.query, first), roper(s.query, second))).norm() <
                  1e-10);
        RC_ASSERT((plain.sum - Eigen::Vector2d(rope(s.query, first), rope(s.query, second))).norm() < 1e-10);
        RC_ASSERT(rotated.arrows.empty() || rotated.arrows.back().tip() == rotated.sum);
    }));
}

TEST(ValueMixing, EveryArrowIsRotatedByItsDistance) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        const double value_rotation_strength = *rc::gen::element(0.0, 0.25, 0.5, 1.0);
        for (const ValueArrow& arrow :
             s.chainOf(roperForm(s.rotary, s.rotary, value_rotation_strength)).arrows) {
            const double expected =
                value_rotation_strength * (arrow.key - s.query) * s.rotary.frequency(s.pair);
            RC_ASSERT(std::abs(arrow.angle - expected) < 1e-9);
            RC_ASSERT(std::abs(arrow.rotated.norm() - arrow.value.norm()) < 1e-12);
        }
    }));
}

TEST(ValueMixing, SharesAddUpToTheLength) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        const ValueChain chain = s.chainOf(roperForm(s.rotary, s.rotary));
        double sum = 0;
        for (const DistanceContribution& contribution : contributionsByDistance(chain, s.query)) {
            RC_ASSERT(contribution.distance >= 0);  // causal attention
            sum += contribution.contribution;
        }
        RC_ASSERT(std::abs(sum - chain.sum.norm()) < 1e-10);
    }));
}

TEST(ValueMixing, ThreeStepsEqualOneWhateverTheBlend) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        const double value_rotation_strength = *rc::gen::element(0.0, 0.3, 1.0);
        const AttentionForm form = roperForm(s.rotary, s.rotary, value_rotation_strength);
        const OutputSteps row =
            computeOutputSteps(form, form, s.weights.row(s.query), s.V, s.positions, s.query);
        RC_ASSERT(row.largestDifference() < 1e-9);
        if (value_rotation_strength == 1.0)
            RC_ASSERT(largest(row.output.transpose() -
                              referenceMixing(s.rotary, s.weights, s.V, s.positions).row(s.query)) < 1e-9);
    }));
}

// Computing in three steps follows the chosen form, computing in one step the correct form.
TEST(ValueMixing, AMistakeIsWhatTheThreeStepsAndTheOneDifferBy) {
    const Rotary rotary = makeRotary(4, Pairing::half);
    const AttentionForm right = roperForm(rotary, rotary);
    AttentionForm no_inverse = right;
    no_inverse.output.direction = 0;
    const Eigen::Vector3d weights(0.2, 0.3, 0.5), positions(0, 1, 2);
    const Eigen::MatrixXd V = (Eigen::MatrixXd(3, 4) << 1, 0, 0, 2, 0, 1, 1, 0, 1, 1, 0, -1).finished();
    const OutputSteps wrong = computeOutputSteps(no_inverse, right, weights, V, positions, 2);
    const OutputSteps sound = computeOutputSteps(right, right, weights, V, positions, 2);
    EXPECT_EQ(wrong.output, wrong.mixed);
    EXPECT_EQ(wrong.direct_output, sound.direct_output);
    EXPECT_LT(sound.largestDifference(), 1e-15);
    EXPECT_GT(wrong.largestDifference(), 0.1);
    // Feature 0 by hand: Σ a (v₀ cos(j−2)θ₀ − v₂ sin(j−2)θ₀), θ₀ = 1.
    EXPECT_NEAR(wrong.direct_output[0], 0.2 * std::cos(2.0) + 0.3 * std::sin(1.0) + 0.5, 1e-15);
}

}  // namespace
}  // namespace roper
