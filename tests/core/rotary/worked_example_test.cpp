#include "core/rotary/worked_example.h"

#include <gtest/gtest.h>

#include "tests/support/random_vectors.h"

namespace roper {
namespace {

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
