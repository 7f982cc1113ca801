#include "core/rotary/rotation.h"

#include <gtest/gtest.h>

#include <set>

#include "core/rotary/worked_example.h"
#include "tests/support/make_rotary.h"
#include "tests/support/random_vectors.h"

namespace roper {
namespace {

// rotary.md, fact 1
TEST(Rotation, FourWaysAgree) {
    EXPECT_TRUE(rc::check([] {
        const Rotary rotary = anyRotary();
        const Eigen::VectorXd x = anyVector(rotary.head_dim);
        const double m = anyPosition();
        const Eigen::VectorXd rotated = rotate(rotary, x, m);
        RC_ASSERT(largest(rotateElementwise(rotary, x, m) - rotated) < 1e-12);
        RC_ASSERT(largest(rotateComplex(rotary, x, m) - rotated) < 1e-12);
        RC_ASSERT(largest(rotationMatrix(rotary, m) * x - rotated) < 1e-12);
    }));
}

// rotary.md, fact 2
TEST(Rotation, KeepsLengthsAndIsAGroup) {
    EXPECT_TRUE(rc::check([] {
        const Rotary rotary = anyRotary();
        const Eigen::VectorXd x = anyVector(rotary.head_dim);
        const double m = anyPosition(), n = anyPosition();
        RC_ASSERT(std::abs(rotate(rotary, x, m).norm() - x.norm()) < 1e-11);
        RC_ASSERT(largest(rotate(rotary, x, 0) - x) == 0.0);
        RC_ASSERT(largest(rotate(rotary, rotate(rotary, x, n), m) - rotate(rotary, x, m + n)) < 1e-10);
        RC_ASSERT(largest(rotate(rotary, rotate(rotary, x, m), -m) - x) < 1e-11);
    }));
}

TEST(Rotation, RotatesCounterClockwise) {
    const Rotary rotary = makeRotary(2, Pairing::half);
    const Eigen::VectorXd rotated = rotate(rotary, Eigen::Vector2d(1, 0), 1.0);
    EXPECT_NEAR(rotated[0], std::cos(1.0), 1e-15);
    EXPECT_NEAR(rotated[1], std::sin(1.0), 1e-15);
}

TEST(Rotation, RowsRotateLikeVectors) {
    EXPECT_TRUE(rc::check([] {
        const Rotary rotary = anyRotary();
        const int T = *rc::gen::inRange(1, 9);
        const Eigen::MatrixXd X = anyMatrix(T, rotary.head_dim);
        const Eigen::VectorXd positions = consecutivePositions(T, anyPosition());
        const Eigen::MatrixXd rotated = rotateRows(rotary, X, positions);
        for (int t = 0; t < T; ++t)
            RC_ASSERT(largest(rotated.row(t).transpose() - rotate(rotary, X.row(t), positions[t])) < 1e-12);
        RC_ASSERT(largest(rotateRows(rotary, rotated, -positions) - X) < 1e-11);
    }));
}

TEST(Rotation, AppendingTokensChangesNothingBefore) {  // rotary.md, fact 13
    const Rotary rotary = makeRotary(8, Pairing::half);
    const Eigen::MatrixXd X = Eigen::MatrixXd::Random(6, 8);
    const Eigen::MatrixXd all = rotateRows(rotary, X, consecutivePositions(6));
    const Eigen::MatrixXd first = rotateRows(rotary, X.topRows(4), consecutivePositions(4));
    EXPECT_EQ(largest(all.topRows(4) - first), 0.0);
}

TEST(Rotation, TheLastFeaturesRotateLikeTheFirst) {
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
        RotaryConfig config{.head_dim = 12, .rotary_fraction = 0.5, .pairing = pairing};
        const Rotary first = config.rotationForLength(1);
        config.rotated_part = RotatedPart::last;
        const Rotary last = config.rotationForLength(1);
        EXPECT_EQ(last.first, 6);
        for (int pair = 0; pair < config.pairs(); ++pair) {
            EXPECT_EQ(config.features(pair).first, last.features(pair).first);
            EXPECT_EQ(config.features(pair).second, 6 + first.features(pair).second);
        }
        const Eigen::VectorXd x = Eigen::VectorXd::Random(12), rotated = rotate(last, x, 5);
        EXPECT_EQ(rotated.head(6), x.head(6));
        Eigen::VectorXd swapped(12);
        swapped << x.tail(6), x.head(6);
        EXPECT_EQ(rotated.tail(6), rotate(first, swapped, 5).head(6));
        EXPECT_LT(rotateFourWays(last, x, 5).largestDifference(), 1e-12);
        std::set<int> features;  // every feature is in one plane
        for (int pair = 0; pair < last.planes(); ++pair) {
            features.insert(last.plane(pair).first);
            features.insert(last.plane(pair).second);
        }
        EXPECT_EQ(features.size(), 12U);
        EXPECT_EQ(*features.rbegin(), 11);
    }
}

TEST(Rotation, OneLayoutIsThePermutationOfTheOther) {
    EXPECT_TRUE(rc::check([] {
        const int d = 2 * *rc::gen::inRange(1, 17);
        const double fraction = *rc::gen::element(1.0, 0.5);
        const Rotary half = makeRotary(d, Pairing::half, 1000, FrequencyFormula::standard, fraction);
        Rotary interleaved = half;
        interleaved.pairing = Pairing::interleaved;
        const auto to = pairingPermutation(Pairing::half, Pairing::interleaved, d, half.rotatedWidth());
        const auto back = pairingPermutation(Pairing::interleaved, Pairing::half, d, half.rotatedWidth());
        const auto permuted = [&](const std::vector<int>& p, const Eigen::VectorXd& v) {
            Eigen::VectorXd y(d);
            for (int k = 0; k < d; ++k)
                y[k] = v[p[static_cast<std::size_t>(k)]];
            return y;
        };
        const Eigen::VectorXd x = anyVector(d);
        const double m = anyPosition();
        RC_ASSERT(largest(permuted(back, permuted(to, x)) - x) == 0.0);
        RC_ASSERT(largest(permuted(back, rotate(interleaved, permuted(to, x), m)) - rotate(half, x, m)) <
                  1e-12);
    }));
}

TEST(Rotation, PartialRotationLeavesTheRest) {  // rotary.md, fact 8
    const Rotary rotary = makeRotary(8, Pairing::half, 10000, FrequencyFormula::standard, 0.5);
    const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(8, 1, 8);
    const Eigen::VectorXd rotated = rotate(rotary, x, 5);
    EXPECT_EQ(largest(rotated.tail(4) - x.tail(4)), 0.0);
    EXPECT_GT(largest(rotated.head(4) - x.head(4)), 0.1);
    // The exponent uses the rotated width, not d.
    EXPECT_NEAR(rotary.theta[1], std::pow(10000.0, -2.0 / 4.0), 1e-15);
}

TEST(Rotation, RefusesAVectorOfAnotherWidth) {
    const Rotary rotary = makeRotary(4, Pairing::half);
    EXPECT_THROW(rotate(rotary, Eigen::VectorXd::Zero(5), 1), std::invalid_argument);
    EXPECT_THROW(rotateRows(rotary, Eigen::MatrixXd::Zero(3, 4), consecutivePositions(2)),
                 std::invalid_argument);
}

// rotary.md, fact 4
TEST(WorkedExample, CatAtPositionThree) {
    const WorkedExample example = workedExample();
    const Eigen::Vector4d exact(-0.353876, 1.060553, 0.841964, 2.353953);
    EXPECT_LT(largest(example.result - exact), 5e-7);
    EXPECT_NEAR(example.exact[1].theta, 0.1, 1e-15);
}

TEST(WorkedExample, RoundingCosineAndSineGivesWhatTheIntroductionPrints) {
    EXPECT_LT(largest(workedExample().rounded_result - Eigen::Vector4d(-0.355, 1.06, 0.84, 2.37)), 1e-12);
    EXPECT_GT(workedExample().largestDifference(), 0.01);
}

TEST(WorkedExample, IsTheRotation) {
    EXPECT_TRUE(rc::check([] {
        const Rotary rotary = anyRotary();
        const Eigen::VectorXd x = anyVector(rotary.head_dim);
        const double m = anyPosition();
        RC_ASSERT(largest(computeWorkedExample(rotary, x, m).result - rotate(rotary, x, m)) < 1e-12);
    }));
}

}  // namespace

}  // namespace roper
