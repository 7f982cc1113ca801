#include "core/rotary/value_mixing.h"

#include <gtest/gtest.h>

#include "core/rotary/scores.h"
#include "tests/support/random_vectors.h"

namespace roper {
namespace {

struct Scene {
    Rotary rotary;
    Eigen::MatrixXd weights, V;
    int T;
};

Scene anyScene() {
    Scene scene;
    scene.rotary = anyRotary();
    scene.T = *rc::gen::inRange(1, 8);
    scene.weights = attentionWeights(anyMatrix(scene.T, scene.T), true);
    scene.V = anyMatrix(scene.T, scene.rotary.head_dim);
    return scene;
}

// rotary.md, fact 7
TEST(ValueMixing, ThreeStepsEqualOne) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        const Eigen::VectorXd positions = consecutivePositions(s.T);
        RC_ASSERT(largest(mixValuesInThreeSteps(s.rotary, s.weights, s.V, positions).output -
                          mixValuesInOneStep(s.rotary, s.weights, s.V, positions)) < 1e-11);
    }));
}

TEST(ValueMixing, MovingTheSentenceChangesNothing) {
    EXPECT_TRUE(rc::check([] {
        const Scene s = anyScene();
        const double S = anyPosition();
        RC_ASSERT(
            largest(mixValuesInThreeSteps(s.rotary, s.weights, s.V, consecutivePositions(s.T)).output -
                    mixValuesInThreeSteps(s.rotary, s.weights, s.V, consecutivePositions(s.T, S)).output) <
            1e-9);
    }));
}

TEST(ValueMixing, WithoutTheInverseItDoesMove) {
    const Rotary rotary = makeRotary(4, Pairing::half);
    const Eigen::MatrixXd weights = attentionWeights(Eigen::MatrixXd::Zero(3, 3), true);
    const Eigen::MatrixXd V = Eigen::MatrixXd::Ones(3, 4);
    EXPECT_GT(largest(mixValuesInThreeSteps(rotary, weights, V, consecutivePositions(3)).mixed -
                      mixValuesInThreeSteps(rotary, weights, V, consecutivePositions(3, 7)).mixed),
              1e-2);
}

/// The component form of the note: o¹ = Σ a (v¹ cos(j−n)θ − v² sin(j−n)θ), o² = Σ a (v² cos(j−n)θ + v¹
/// sin(j−n)θ).
TEST(ValueMixing, IsTheNotesComponentForm) {
    const Rotary rotary = makeRotary(6, Pairing::half, 100);
    const int T = 5;
    const Eigen::MatrixXd weights = attentionWeights(Eigen::MatrixXd::Random(T, T), true);
    const Eigen::MatrixXd V = Eigen::MatrixXd::Random(T, 6);
    const Eigen::MatrixXd output = mixValuesInThreeSteps(rotary, weights, V, consecutivePositions(T)).output;
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

}  // namespace
}  // namespace roper
