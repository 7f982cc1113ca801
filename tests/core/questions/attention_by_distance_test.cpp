#include "core/questions/attention_by_distance.h"

#include <gtest/gtest.h>

#include <cmath>

namespace roper {
namespace {

/// Softmax of the scores −distance / 4 over the last `window` tokens.
Eigen::MatrixXd decayingWeights(Eigen::Index T, Eigen::Index window) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(T, T);
    for (Eigen::Index n = 0; n < T; ++n) {
        for (Eigen::Index j = std::max<Eigen::Index>(0, n - window + 1); j <= n; ++j)
            weights(n, j) = std::exp(-0.25 * static_cast<double>(n - j));
        weights.row(n) /= weights.row(n).sum();
    }
    return weights;
}

TEST(AttentionByDistance, FindsScoresThatDependOnDistanceAloneAgainstThatOfTheOwnToken) {
    const AttentionByDistance by_distance = attentionByDistance(decayingWeights(12, 12));
    ASSERT_EQ(by_distance.score.size(), 12U);
    for (std::size_t distance = 0; distance < by_distance.score.size(); ++distance)
        EXPECT_NEAR(by_distance.score[distance], -0.25 * static_cast<double>(distance), 1e-12);
}

TEST(AttentionByDistance, MeansOfWeightsAreOverTheQueriesThatHaveSuchAToken) {
    const Eigen::MatrixXd weights = decayingWeights(5, 5);
    const AttentionByDistance by_distance = attentionByDistance(weights);
    EXPECT_NEAR(by_distance.weight[1], (weights(1, 0) + weights(2, 1) + weights(3, 2) + weights(4, 3)) / 4,
                1e-15);
    EXPECT_NEAR(by_distance.weight[4], weights(4, 0), 1e-15);
}

TEST(AttentionByDistance, HasNoScoreBeyondAWindow) {
    const AttentionByDistance by_distance = attentionByDistance(decayingWeights(8, 3));
    EXPECT_NEAR(by_distance.score[2], -0.5, 1e-12);
    EXPECT_TRUE(std::isnan(by_distance.score[3]));
    EXPECT_EQ(by_distance.weight[3], 0);
}

}  // namespace
}  // namespace roper
