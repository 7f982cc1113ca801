#include "core/rotary/rotary_config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace roper {
namespace {

TEST(Frequencies, StandardFallsWithTwiceTheIndex) {
    const Eigen::VectorXd theta = frequencies(4, 10000.0);
    ASSERT_EQ(theta.size(), 2);
    EXPECT_DOUBLE_EQ(theta[0], 1.0);
    EXPECT_NEAR(theta[1], 0.01, 1e-15);
}

TEST(Frequencies, IntroFallsHalfAsFast) {
    const Eigen::VectorXd theta = frequencies(4, 10000.0, FrequencyFormula::worked_example);
    EXPECT_DOUBLE_EQ(theta[0], 1.0);
    EXPECT_NEAR(theta[1], 0.1, 1e-15);
}

TEST(Frequencies, WavelengthIsOneRotation) {
    const Eigen::VectorXd theta = frequencies(64, 500.0);
    const Eigen::VectorXd lambda = wavelengths(theta);
    for (Eigen::Index i = 0; i < theta.size(); ++i)
        EXPECT_NEAR(theta[i] * lambda[i], 2 * std::numbers::pi, 1e-12);
}

TEST(Frequencies, RefusesWhatCannotRotate) {
    EXPECT_THROW(frequencies(3), std::invalid_argument);
    EXPECT_THROW(frequencies(0), std::invalid_argument);
    EXPECT_THROW(frequencies(4, 1.0), std::invalid_argument);
    EXPECT_THROW(frequencies(4, std::nan("")), std::invalid_argument);
}

TEST(Frequencies, PartialWidthIsEven) {
    const auto rotatedWidth = [](int head_dim, double fraction) {
        return RotaryConfig{.head_dim = head_dim, .rotary_fraction = fraction}.rotatedWidth();
    };
    EXPECT_EQ(rotatedWidth(32, 0.5), 16);
    EXPECT_EQ(rotatedWidth(32, 1.0), 32);
    EXPECT_EQ(rotatedWidth(32, 0.0), 0);
    EXPECT_EQ(rotatedWidth(10, 0.5), 4);   // 5 features make 2 pairs
    EXPECT_EQ(rotatedWidth(10, 0.3), 2);   // 0.3·10 is 2.9999… in binary; 3 features make one pair
    EXPECT_EQ(rotatedWidth(20, 0.7), 14);  // 0.7·20 must not become 13.999…
}

}  // namespace
}  // namespace roper
