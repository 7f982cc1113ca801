// rotary.md, fact 7: the effect of RoPER on values, by the functions that pages and figures use.

#include <gtest/gtest.h>

#include "core/explorer/attention_maps.h"
#include "core/rotary/scores.h"
#include "tests/support/make_rotary.h"
#include "tests/support/random_vectors.h"
#include "tests/support/reference_attention.h"

namespace roper {
namespace {

struct Scene {
    ScoreFormula rule;
    HeadVectors heads;
    Eigen::MatrixXd weights;

    const Rotary& rotary() const { return rule.form.value.rotary; }
    Eigen::MatrixXd output(double shift = 0) const { return outputs(rule, heads, weights, shift); }
};

Scene sceneOf(const Rotary& rotary, int T, const Eigen::MatrixXd& weights, const Eigen::MatrixXd& V) {
    Scene scene;
    scene.rule.form = roperForm(rotary, rotary);
    scene.heads = {Eigen::MatrixXd::Zero(T, rotary.head_dim), Eigen::MatrixXd::Zero(T, rotary.head_dim), V};
    scene.weights = weights;
    return scene;
}

Scene anyScene() {
    const Rotary rotary = anyRotary();
    const int T = *rc::gen::inRange(1, 8);
    return sceneOf(rotary, T, attentionWeights(anyMatrix(T, T), true), anyMatrix(T, rotary.head_dim));
}

TEST(ValueMixing, ThreeStepsEqualOne) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        RC_ASSERT(largest(s.output() - referenceMixing(s.rotary(), s.weights, s.heads.V,
                                                       consecutivePositions(s.heads.tokens()))) < 1e-11);
    }));
}

TEST(ValueMixing, MovingTheSentenceChangesNothing) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        RC_ASSERT(largest(s.output() - s.output(anyPosition())) < 1e-9);
    }));
}

TEST(ValueMixing, WithoutTheInverseItDoesMove) {
    Scene s = sceneOf(makeRotary(4, Pairing::half), 3, attentionWeights(Eigen::MatrixXd::Zero(3, 3), true),
                      Eigen::MatrixXd::Ones(3, 4));
    s.rule.form.output.direction = 0;
    EXPECT_GT(largest(s.output() - s.output(7)), 1e-2);
}

/// The component form in rotary.md: o¹ = Σ a (v¹ cos(j−n)θ − v² sin(j−n)θ), o² = Σ a (v² cos(j−n)θ + v¹
/// sin(j−n)θ).
TEST(ValueMixing, IsTheNotesComponentForm) {
    const int T = 5;
    const Rotary rotary = makeRotary(6, Pairing::half, 100);
    const Eigen::MatrixXd weights = attentionWeights(Eigen::MatrixXd::Random(T, T), true);
    const Eigen::MatrixXd V = Eigen::MatrixXd::Random(T, 6);
    const Eigen::MatrixXd output = sceneOf(rotary, T, weights, V).output();
    for (int n = 0; n < T; ++n) {
        for (int i = 0; i < 3; ++i) {
            double first = 0, second = 0;
            for (int j = 0; j < T; ++j) {
                const double angle = (j - n) * rotary.theta[i];
                first += weights(n, j) * (V(j, i) * std::cos(angle) - V(j, i + 3) * std::sin(angle));
                second += weights(n, j) * (V(j, i + 3) * std::cos(angle) + V(j, i) * std::sin(angle));
            }
            EXPECT_NEAR(output(n, i), first, 1e-12);
            EXPECT_NEAR(output(n, i + 3), second, 1e-12);
        }
    }
}

constexpr int kQuery = 9, kKey = 3;

MixedValues mixed(MixedTokens mixed_tokens, int key = kKey, VectorSource source = VectorSource::random) {
    Setup setup;
    setup.mixed_tokens = mixed_tokens;
    setup.source = source;
    const HeadVectors heads = randomHeadVectors(13, setup.head_dim, 1, 0.5);
    return mixedValues(setup, Eigen::VectorXd::LinSpaced(13, 0.1, 0.5), heads.V, kQuery, key);
}

TEST(MixedTokens, OneHasAllTheWeightAndTheSameValueEverywhere) {
    const MixedValues one = mixed(MixedTokens::one);
    EXPECT_EQ(one.weights.sum(), 1);
    EXPECT_EQ(one.weights[kKey], 1);
    const MixedValues elsewhere = mixed(MixedTokens::one, 7);
    EXPECT_EQ(one.V, elsewhere.V);
    for (Eigen::Index j = 1; j < one.V.rows(); ++j)
        EXPECT_EQ(one.V.row(j), one.V.row(0));
    const roper::Setup setup;
    for (int pair = 0; pair < setup.pairs(); ++pair) {
        const auto [first, second] = setup.valueRotary().plane(pair);
        EXPECT_NEAR(std::hypot(one.V(0, first), one.V(0, second)), 1, 1e-12) << pair;
    }
}

TEST(MixedTokens, TwoShareTheWeightAlsoInTheSamePlace) {
    const MixedValues two = mixed(MixedTokens::two);
    EXPECT_EQ(two.weights[kKey], 0.5);
    EXPECT_EQ(two.weights[kQuery], 0.5);
    EXPECT_EQ(two.weights.sum(), 1);
    EXPECT_EQ(mixed(MixedTokens::two, kQuery).weights[kQuery], 1);
}

TEST(MixedTokens, AllAreMixedAsAttentionDoes) {
    const HeadVectors heads = randomHeadVectors(13, roper::Setup{}.head_dim, 1, 0.5);
    EXPECT_EQ(mixed(MixedTokens::all).V, heads.V);
    EXPECT_EQ(mixed(MixedTokens::all).weights, Eigen::VectorXd(Eigen::VectorXd::LinSpaced(13, 0.1, 0.5)));
    // Vectors entered by the user or taken from a run are never replaced.
    for (const VectorSource source : {VectorSource::hand, VectorSource::run})
        EXPECT_EQ(mixed(MixedTokens::one, kKey, source).V, heads.V);
}

}  // namespace

}  // namespace roper
