#include "core/rotary/scores.h"

#include <gtest/gtest.h>

#include "tests/support/random_vectors.h"

namespace roper {
namespace {

// rotary.md, fact 3
TEST(Scores, DependOnDistanceAlone) {
    EXPECT_TRUE(rc::check([] {
        const Rotary rotary = anyRotary();
        const Eigen::VectorXd q = anyVector(rotary.head_dim), k = anyVector(rotary.head_dim);
        const double m = anyPosition(), n = anyPosition(), S = anyPosition();
        const double score = relativeScore(rotary, q, m, k, n);
        RC_ASSERT(std::abs(relativeScore(rotary, q, m + S, k, n + S) - score) < 1e-9);
        RC_ASSERT(std::abs(q.dot(rotate(rotary, k, n - m)) - score) < 1e-9);
    }));
}

TEST(Weights, AreProbabilitiesOfThePast) {
    const Eigen::MatrixXd scores =
        300.0 * Eigen::MatrixXd::Random(5, 5);  // so large that a naive softmax would overflow
    const Eigen::MatrixXd weights = attentionWeights(scores, true);
    for (int n = 0; n < 5; ++n) {
        EXPECT_NEAR(weights.row(n).sum(), 1.0, 1e-12);
        EXPECT_GE(weights.row(n).minCoeff(), 0.0);
        for (int j = n + 1; j < 5; ++j)
            EXPECT_EQ(weights(n, j), 0.0);
    }
    EXPECT_GT(attentionWeights(Eigen::MatrixXd::Zero(2, 2), false)(0, 1), 0.49);
}

}  // namespace
}  // namespace roper
