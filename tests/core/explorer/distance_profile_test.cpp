#include "core/explorer/distance_profile.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

using ASetup = roper::Setup;  // GoogleTest defines a Setup of its own

TEST(DistanceProfile, IsWhatTheMapHoldsAlongItsDiagonals) {
    for (const bool causal : {true, false}) {
        ASetup setup;
        setup.causal = causal;
        const HeadVectors heads = randomHeadVectors(17, setup.head_dim, 3, 0.4);
        const ScoreRule rule = scoreRule(setup);
        const Eigen::MatrixXd map = scores(rule, heads, 5);
        const std::vector<DistanceScores> profile = scoresByDistance(rule, heads, 5);
        ASSERT_EQ(profile.size(), causal ? 17U : 33U);
        for (const DistanceScores& at : profile) {
            const Eigen::VectorXd diagonal = map.diagonal(-at.distance);
            EXPECT_NEAR(at.mean, diagonal.mean(), 1e-9) << at.distance;
            EXPECT_NEAR(at.minimum, diagonal.minCoeff(), 1e-9) << at.distance;
            EXPECT_NEAR(at.maximum, diagonal.maxCoeff(), 1e-9) << at.distance;
        }
    }
}

TEST(DistanceProfile, OfTokensThatAreAlikeItIsOneCurve) {
    ASetup setup;
    setup.method = "rope";
    const HeadVectors heads = randomHeadVectors(40, setup.head_dim, 3, 1);
    for (const DistanceScores& at : scoresByDistance(scoreRule(setup), heads))
        EXPECT_LT(at.maximum - at.minimum, 1e-9) << at.distance;
}

TEST(DistanceProfile, LongTextsAreSampled) {
    const ASetup setup;
    const HeadVectors heads = randomHeadVectors(1000, setup.head_dim, 3, 0.4);
    const auto profile = scoresByDistance(scoreRule(setup), heads, 0, 10);
    EXPECT_EQ(profile.front().distance, 0);
    EXPECT_EQ(profile.back().distance, 999);
}

}  // namespace
}  // namespace roper
