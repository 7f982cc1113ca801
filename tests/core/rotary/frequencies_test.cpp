#include "core/rotary/rotary_config.h"

#include <gtest/gtest.h>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "core/rotary/frequencies.h"
#include "core/rotary/spectrum.h"
#include "tests/support/random_vectors.h"

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

TEST(AbsoluteEncoding, SinusoidsByHand) {
    const Eigen::MatrixXd table = sinusoidTable(5, 6, 1000.0);
    ASSERT_EQ(table.rows(), 5);
    ASSERT_EQ(table.cols(), 6);
    // Frequencies 1, 1000^(−1/3) = 0.1 and 0.01.
    EXPECT_NEAR(table(3, 0), std::sin(3.0), 1e-12);
    EXPECT_NEAR(table(3, 1), std::cos(3.0), 1e-12);
    EXPECT_NEAR(table(3, 2), std::sin(0.3), 1e-12);
    EXPECT_NEAR(table(4, 5), std::cos(0.04), 1e-12);
    EXPECT_EQ(table(0, 4), 0.0);
    EXPECT_EQ(table(0, 5), 1.0);
}

// The product of two rows depends only on their distance, which is why sinusoids can carry relative
// positions.
TEST(AbsoluteEncoding, ProductsOfRowsDependOnTheDistance) {
    const Eigen::MatrixXd table = sinusoidTable(40, 16);
    for (int distance = 0; distance < 20; ++distance)
        for (int m = 0; m + distance < 40; ++m)
            EXPECT_NEAR(table.row(m).dot(table.row(m + distance)), table.row(0).dot(table.row(distance)),
                        1e-10);
}

TEST(AbsoluteEncoding, RefusesWhatIsNoTable) {
    EXPECT_THROW(sinusoidTable(0, 4), std::invalid_argument);
    EXPECT_THROW(sinusoidTable(4, 0), std::invalid_argument);
    EXPECT_THROW(sinusoidTable(4, 4, 1.0), std::invalid_argument);
}

using Long = long double;

Long longTheta(int pair, int width, double base) {
    return std::pow(static_cast<Long>(base), -2.0L * pair / width);
}

// rotary.md, fact 6: compares with the direct double sum in long double.
TEST(Spectrum, DecayEqualsTheDirectSum) {
    for (const auto& [d, base] : {std::pair{128, 10000.0}, {16, 500000.0}, {2, 10.0}}) {
        const Eigen::VectorXd curve = decayCurve(frequencies(d, base), 257);
        for (const int distance : {0, 1, 2, 17, 100, 255, 256}) {
            Long total = 0;
            for (int j = 1; j <= d / 2; ++j) {
                Long real = 0, imaginary = 0;
                for (int i = 0; i < j; ++i) {
                    real += std::cos(distance * longTheta(i, d, base));
                    imaginary += std::sin(distance * longTheta(i, d, base));
                }
                total += std::sqrt(real * real + imaginary * imaginary);
            }
            EXPECT_NEAR(curve[distance], static_cast<double>(total / (d / 2)), 1e-10) << d << " " << distance;
        }
    }
}

// The figure of long-term decay in Su et al. 2021: d = 128, from (1 + … + 64)/64 = 32.5 down to 6.5 at δ =
// 256.
TEST(Spectrum, TheSourcesDecayFigure) {
    const Eigen::VectorXd curve = decayCurve(frequencies(128), 257);
    EXPECT_NEAR(curve[0], 32.5, 1e-12);
    EXPECT_NEAR(curve[256], 6.5431, 1e-4);
    EXPECT_LT(curve.segment(200, 57).mean(), curve.segment(20, 57).mean());
}

TEST(Spectrum, XposDecaysFaster) {
    const Eigen::VectorXd theta = frequencies(64);
    const Eigen::VectorXd plain = decayCurve(theta, 300), xpos = xposDecayCurve(theta, 300);
    EXPECT_NEAR(xpos[0], plain[0], 1e-12);
    for (int distance = 50; distance < 300; ++distance)
        EXPECT_LT(xpos[distance], plain[distance]);
}

TEST(Spectrum, BaseBoundEqualsTheDirectSum) {
    EXPECT_TRUE(rc::check([] {
        const int d = 2 * *rc::gen::inRange(1, 65);
        const double base = std::pow(10.0, 1.0 + 0.01 * *rc::gen::inRange(0, 500));
        const Eigen::VectorXd theta = frequencies(d, base);
        const Eigen::VectorXd bound = baseBound(theta, 5000);
        const int m = *rc::gen::inRange(0, 5001);
        Long sum = 0;
        for (int i = 0; i < d / 2; ++i)
            sum += std::cos(m * static_cast<Long>(theta[i]));
        RC_ASSERT(std::abs(bound[m] - static_cast<double>(sum)) < 1e-9);
    }));
}

TEST(Spectrum, TheFirstZeroIsWhereTheSumTurnsNegative) {
    const Eigen::VectorXd theta = frequencies(128);
    const Eigen::VectorXd bound = baseBound(theta, 8000);
    const int zero = firstNegative(bound);
    ASSERT_GT(zero, 100);
    Long at = 0, before = 0;
    for (int i = 0; i < 64; ++i) {
        at += std::cos(zero * longTheta(i, 128, 10000));
        before += std::cos((zero - 1) * longTheta(i, 128, 10000));
    }
    EXPECT_LT(at, 0.0L);
    EXPECT_GE(before, 0.0L);
    // As in the paper, a larger base extends the range.
    EXPECT_EQ(firstNegative(baseBound(frequencies(128, 5e5), zero)), -1);
}

TEST(Spectrum, CosineMapIsTheCosine) {
    const Eigen::VectorXd theta = frequencies(8, 100);
    const Eigen::MatrixXd map = cosineMap(theta, 50);
    ASSERT_EQ(map.rows(), 4);
    ASSERT_EQ(map.cols(), 50);
    for (int i = 0; i < 4; ++i)
        for (int distance = 0; distance < 50; ++distance)
            EXPECT_NEAR(map(i, distance), std::cos(distance * theta[i]), 1e-12);
}

TEST(Spectrum, PairsThatCompleteARotationWithinALength) {
    const Eigen::VectorXd theta = frequencies(128);
    EXPECT_EQ(pairsCompletingRotation(theta, 6.28), 0);
    EXPECT_EQ(pairsCompletingRotation(theta, 6.29), 1);
    EXPECT_EQ(pairsCompletingRotation(theta, 1e9), 64);
    EXPECT_EQ(pairsCompletingRotation(Eigen::VectorXd::Zero(3), 1e9), 0);
}

}  // namespace

}  // namespace roper
