#include <gtest/gtest.h>

#include <cmath>

#include "core/rotary/position_bias.h"
#include "core/rotary/scores.h"
#include "core/rotary/value_mixing.h"
#include "tests/support/make_rotary.h"
#include "tests/support/random_vectors.h"
#include "tests/support/reference_attention.h"

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
