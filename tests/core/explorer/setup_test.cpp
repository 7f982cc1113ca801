#include "core/explorer/setup.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/rotary/worked_example.h"
#include "tests/support/random_vectors.h"

namespace roper {
namespace {

using ASetup = Setup;  // inside a test, Setup means a type of GoogleTest

TEST(Setup, SanitizingTwiceIsSanitizingOnce) {
    EXPECT_TRUE(rc::check([] {
        ASetup setup;
        setup.head_dim = *rc::gen::inRange(-10, 400);
        setup.base = anyNumber(2e9);
        setup.pair = *rc::gen::inRange(-300, 300);
        setup.tokens = *rc::gen::inRange(-5, 5000);
        setup.query = *rc::gen::inRange(-5, 5000);
        setup.key = *rc::gen::inRange(-5, 5000);
        setup.ablated_pairs = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-3, 300));
        setup.source = *rc::gen::element(VectorSource::random, VectorSource::hand);
        setup.value_rotation_strength = anyNumber(3);
        const ASetup once = sanitized(setup);
        RC_ASSERT(sanitized(once) == once);
        RC_ASSERT(once.x.size() == once.head_dim && once.y.size() == once.head_dim);
        RC_ASSERT(once.query < once.tokens && once.key >= 0);
        RC_ASSERT(once.rotary().planes() == once.pairs());
    }));
}

TEST(Setup, NotANumberBecomesABound) {
    ASetup setup;
    setup.base = std::numeric_limits<double>::quiet_NaN();
    setup.shift = std::numeric_limits<double>::infinity();
    setup.scaling.factor = -std::numeric_limits<double>::infinity();
    const ASetup inside = sanitized(setup);
    EXPECT_EQ(inside.base, bounds::kMinBase);
    EXPECT_EQ(inside.shift, bounds::kMaxShift);
    EXPECT_EQ(inside.scaling.factor, 1.0);
}

TEST(Setup, AWiderHeadKeepsTheEntriesThatWereThere) {
    ASetup setup = withWorkedExample(ASetup{});
    setup.head_dim = 8;
    setup = sanitized(setup);
    EXPECT_EQ(setup.x.head(4), Eigen::Vector4d(0.5, -1.0, 1.5, 2.0));
    setup.source = VectorSource::hand;
    setup.tokens = 3;
    setup = sanitized(setup);
    setup.manual_vectors.Q(2, 7) = 42;
    setup.tokens = 5;
    setup = sanitized(setup);
    EXPECT_EQ(setup.manual_vectors.Q(2, 7), 42);
    EXPECT_EQ(setup.manual_vectors.V.rows(), 5);
}

TEST(Setup, TheIntroExampleGivesTheSourcesNumbers) {
    const ASetup setup = withWorkedExample(ASetup{});
    EXPECT_TRUE(isWorkedExample(setup));
    const Eigen::VectorXd rotated = rotate(setup.rotary(), setup.x, setup.position);
    EXPECT_LT((rotated - Eigen::Vector4d(-0.353876, 1.060553, 0.841964, 2.353953)).cwiseAbs().maxCoeff(),
              5e-7);
    EXPECT_LT((workedExample().result - rotated).norm(), 1e-15);
}

TEST(Setup, FractionsAndScalingsReachTheRotation) {
    ASetup setup;
    setup.head_dim = 16;
    setup = sanitized(setup);
    setup.rotary_fraction = 0.5;
    EXPECT_EQ(setup.rotary().pairs(), 4);
    EXPECT_EQ(setup.valueRotary().pairs(), 8);
    EXPECT_EQ(setup.rotary().frequency(5), 0.0);
    setup.scaling.method = ScalingMethod::linear;
    setup.scaling.factor = 2;
    EXPECT_DOUBLE_EQ(setup.rotary().theta[0], 0.5);
    setup.rotary_fraction = 0;
    EXPECT_EQ(setup.rotary().pairs(), 0);
    EXPECT_EQ(setup.attentionFactor(), 1.0);
}

// rotary.md, fact 8: features beyond the rotated width pass unchanged, and planes cover every feature once.
TEST(Rotary, PlanesCoverEveryFeatureOnce) {
    EXPECT_TRUE(rc::check([] {
        const Rotary rotary = anyRotary();
        std::vector<int> seen(static_cast<std::size_t>(rotary.head_dim), 0);
        for (int i = 0; i < rotary.planes(); ++i) {
            const auto [first, second] = rotary.plane(i);
            ++seen[static_cast<std::size_t>(first)];
            ++seen[static_cast<std::size_t>(second)];
        }
        for (const int times : seen)
            RC_ASSERT(times == 1);
    }));
}

}  // namespace
}  // namespace roper
