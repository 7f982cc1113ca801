#include "core/explorer/mixed_values.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

constexpr int kQuery = 9, kKey = 3;

MixedValues mixed(MixedTokens mixed_tokens, int key = kKey, VectorSource source = VectorSource::random) {
    Setup setup;
    setup.mixed_tokens = mixed_tokens;
    setup.source = source;
    const HeadVectors heads = randomHeadVectors(13, setup.head_dim, 1, 0.5);
    return mixedValues(setup, Eigen::VectorXd::LinSpaced(13, 0.1, 0.5), heads.V, kQuery, key);
}

TEST(MixedTokens, OneHasAllTheWeightAndTheSameValueEverywhere) {
    const MixedValues one = mixed(MixedTokens::one);
    EXPECT_EQ(one.weights.sum(), 1);
    EXPECT_EQ(one.weights[kKey], 1);
    const MixedValues elsewhere = mixed(MixedTokens::one, 7);
    EXPECT_EQ(one.V, elsewhere.V);
    for (Eigen::Index j = 1; j < one.V.rows(); ++j)
        EXPECT_EQ(one.V.row(j), one.V.row(0));
    const roper::Setup setup;
    for (int pair = 0; pair < setup.pairs(); ++pair) {
        const auto [first, second] = setup.valueRotary().plane(pair);
        EXPECT_NEAR(std::hypot(one.V(0, first), one.V(0, second)), 1, 1e-12) << pair;
    }
}

TEST(MixedTokens, TwoShareTheWeightAlsoInTheSamePlace) {
    const MixedValues two = mixed(MixedTokens::two);
    EXPECT_EQ(two.weights[kKey], 0.5);
    EXPECT_EQ(two.weights[kQuery], 0.5);
    EXPECT_EQ(two.weights.sum(), 1);
    EXPECT_EQ(mixed(MixedTokens::two, kQuery).weights[kQuery], 1);
}

TEST(MixedTokens, AllAreMixedAsAttentionDoes) {
    const HeadVectors heads = randomHeadVectors(13, roper::Setup{}.head_dim, 1, 0.5);
    EXPECT_EQ(mixed(MixedTokens::all).V, heads.V);
    EXPECT_EQ(mixed(MixedTokens::all).weights, Eigen::VectorXd(Eigen::VectorXd::LinSpaced(13, 0.1, 0.5)));
    // Vectors entered by the user or taken from a run are never replaced.
    for (const VectorSource source : {VectorSource::hand, VectorSource::run})
        EXPECT_EQ(mixed(MixedTokens::one, kKey, source).V, heads.V);
}

}  // namespace
}  // namespace roper
