#include "core/rotary/attention_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace roper {
namespace {

TEST(HeadStatistics, AHeadThatLooksOneBack) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(4, 4);
    weights(0, 0) = weights(1, 0) = weights(2, 1) = weights(3, 2) = 1;
    const HeadStatistics s = headStatistics(weights, true);
    EXPECT_EQ(s.entropy, 0);
    EXPECT_DOUBLE_EQ(s.mean_distance, 0.75);
    EXPECT_EQ(s.diagonal, 1);
    EXPECT_EQ(s.diagonal_distance, 1);
}

TEST(HeadStatistics, AHeadThatLooksAtAllAlike) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(3, 3);
    for (int n = 0; n < 3; ++n)
        weights.row(n).head(n + 1).setConstant(1.0 / (n + 1));
    const HeadStatistics s = headStatistics(weights, true);
    EXPECT_NEAR(s.entropy, (std::log(2.0) + std::log(3.0)) / 3, 1e-15);
    EXPECT_NEAR(s.mean_distance, (0.5 + 1.0) / 3, 1e-15);
    EXPECT_NEAR(s.diagonal, (1 + 0.5 + 1.0 / 3) / 3, 1e-15);
    EXPECT_EQ(s.diagonal_distance, 0);
}

TEST(HeadStatistics, NothingOfNothing) {
    EXPECT_EQ(headStatistics(Eigen::MatrixXd(0, 0), true).entropy, 0);
}

// Every query attends to the next key, the last query to itself.
TEST(HeadStatistics, LooksBothWaysWhereTheHeadDoes) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(4, 4);
    for (Eigen::Index n = 0; n < 3; ++n)
        weights(n, n + 1) = 1;
    weights(3, 3) = 1;
    const HeadStatistics s = headStatistics(weights, false);
    EXPECT_EQ(s.diagonal_distance, -1);
    EXPECT_DOUBLE_EQ(s.diagonal, 1.0);
    EXPECT_DOUBLE_EQ(s.mean_distance, 0.75);
    EXPECT_DOUBLE_EQ(headStatistics(weights, true).mean_distance, 0);  // ignores keys hidden by a causal mask
}

}  // namespace
}  // namespace roper
