#include "core/rotary/scores.h"

#include <gtest/gtest.h>
#include <cmath>

#include "core/rotary/position_bias.h"
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

struct Row {
    int distance, bucket;
};

// rotary.md, fact 12: 32 causal buckets, calculated by hand from 16 + ⌊16·ln(δ/16)/ln 8⌋. Bucket 16 + k
// begins at the first integer δ ≥ 16·8^(k/16): 16, 18.2, 20.7, 23.6, 26.9, 30.6, 34.9, 39.7, 45.3, 51.5,
// 58.7, 66.8, 76.1, 86.7, 98.7, 112.4, 128.
TEST(T5Bucket, CausalTableByHand) {
    constexpr Row kTable[] = {
        {0, 0},    {1, 1},    {2, 2},    {7, 7},    {14, 14},  {15, 15},     {16, 16}, {18, 16}, {19, 17},
        {20, 17},  {21, 18},  {23, 18},  {24, 19},  {26, 19},  {27, 20},     {30, 20}, {31, 21}, {34, 21},
        {35, 22},  {39, 22},  {40, 23},  {45, 23},  {46, 24},  {51, 24},     {52, 25}, {58, 25}, {59, 26},
        {66, 26},  {67, 27},  {76, 27},  {77, 28},  {86, 28},  {87, 29},     {98, 29}, {99, 30}, {112, 30},
        {113, 31}, {127, 31}, {128, 31}, {129, 31}, {500, 31}, {100000, 31}, {-1, 0},  {-50, 0}};
    for (const Row& row : kTable)
        EXPECT_EQ(t5Bucket(row.distance, false), row.bucket) << row.distance;
}

// Half of the buckets for each side: exact below 8, then 8 + ⌊8·ln(δ/8)/ln 16⌋ up to 15; buckets from 16 on
// are for keys to the right.
TEST(T5Bucket, BidirectionalTableByHand) {
    constexpr Row kTable[] = {{0, 0},   {1, 1},   {7, 7},   {8, 8},    {11, 8},   {12, 9},   {15, 9},
                              {16, 10}, {22, 10}, {23, 11}, {31, 11},  {32, 12},  {45, 12},  {46, 13},
                              {63, 13}, {64, 14}, {90, 14}, {91, 15},  {127, 15}, {128, 15}, {1000, 15},
                              {-1, 17}, {-7, 23}, {-8, 24}, {-12, 25}, {-200, 31}};
    for (const Row& row : kTable)
        EXPECT_EQ(t5Bucket(row.distance, true), row.bucket) << row.distance;
}

TEST(Alibi, SlopesOfEightHeadsAreHalvesOfEachOther) {
    EXPECT_DOUBLE_EQ(alibiSlope(1, 8), 0.5);
    EXPECT_DOUBLE_EQ(alibiSlope(8, 8), 1.0 / 256);
    for (int head = 1; head < 8; ++head)
        EXPECT_DOUBLE_EQ(alibiSlope(head, 8), 2 * alibiSlope(head + 1, 8));
    EXPECT_THROW(alibiSlope(0, 8), std::invalid_argument);
    EXPECT_THROW(alibiSlope(9, 8), std::invalid_argument);
}

TEST(Alibi, SlopesOfSixHeadsAreThoseOfFourAndEveryOtherOfEight) {
    const std::vector<double> six = {1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256, 1.0 / 2, 1.0 / 8};
    EXPECT_EQ(alibiSlopes(6), six);
    EXPECT_EQ(alibiSlopes(2, 16), (std::vector<double>{1.0 / 256, 1.0 / 65536}));
    for (int head = 1; head <= 8; ++head)
        EXPECT_EQ(alibiSlopes(8)[static_cast<std::size_t>(head - 1)], alibiSlope(head, 8));
}

TEST(Xpos, BasesRiseFromTwoSevenths) {
    EXPECT_NEAR(xposBase(0, 64), 2.0 / 7, 1e-15);
    EXPECT_NEAR(xposBase(32, 64), 0.9 / 1.4, 1e-15);
    for (int i = 0; i < 64; ++i)
        EXPECT_NEAR(xposBase(i, 64), (2 * i + 0.4 * 128) / (1.4 * 128), 1e-15);  // torchscale's formula
}

}  // namespace

}  // namespace roper
