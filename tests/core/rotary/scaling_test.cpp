#include "core/rotary/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/random_vectors.h"

namespace roper {
namespace {

constexpr double kPi = std::numbers::pi;

Eigen::VectorXd scaledTheta(int width, double base, Scaling scaling, double length = 4096) {
    return scaledFrequencies(width, base, FrequencyFormula::standard, scaling, length).theta;
}

Scaling methodOf(ScalingMethod method, double factor) {
    Scaling scaling;
    scaling.method = method;
    scaling.factor = factor;
    return scaling;
}

// Each method is compared, pair by pair, with values calculated from the papers' formulas in another form
// (wavelengths and powers instead of frequencies and products), and in cases with a known result.

TEST(Scaling, LinearReadsPositionMAsMOverS) {
    EXPECT_TRUE(rc::check([] {
        const int width = 2 * *rc::gen::inRange(1, 65);
        const double s = 1 + 0.01 * *rc::gen::inRange(0, 1000);
        const Eigen::VectorXd scaled = scaledTheta(width, 10000, methodOf(ScalingMethod::linear, s));
        const double m = *rc::gen::inRange(0, 5000);
        for (Eigen::Index i = 0; i < scaled.size(); ++i)
            RC_ASSERT(std::abs(m * scaled[i] - (m / s) * frequencies(width)[i]) < 1e-9);
    }));
}

TEST(Scaling, AFactorSlowsScaledAndTrainedFrequencies) {
    RotaryConfig plain;
    plain.head_dim = 8;
    plain.scaling = methodOf(ScalingMethod::linear, 3);
    for (const bool is_trained : {false, true}) {
        if (is_trained) plain.trained = Eigen::VectorXd::LinSpaced(4, 1, 0.1);
        RotaryConfig slower = plain;
        slower.frequency_factor = 0.25;
        for (const std::optional<double> base : {std::optional<double>(), std::optional<double>(500)})
            EXPECT_LT((slower.frequenciesForLength(10, base).theta -
                       0.25 * plain.frequenciesForLength(10, base).theta)
                          .norm(),
                      1e-15);
    }
}

TEST(Scaling, NtkKeepsTheFastestPairAndSlowsTheSlowestByS) {
    for (const int width : {4, 64, 128}) {
        for (const double s : {1.0, 2.0, 8.0}) {
            const Eigen::VectorXd plain = frequencies(width);
            const Eigen::VectorXd scaled = scaledTheta(width, 10000, methodOf(ScalingMethod::ntk, s));
            EXPECT_DOUBLE_EQ(scaled[0], 1.0);
            EXPECT_NEAR(plain[width / 2 - 1] / scaled[width / 2 - 1], s, 1e-9 * s);
            // In between, the factor grows geometrically: s^(i/(n−1)).
            for (int i = 0; i < width / 2; ++i)
                EXPECT_NEAR(plain[i] / scaled[i], std::pow(s, i / (width / 2 - 1.0)), 1e-9 * s);
        }
    }
}

// In the introduction's frequency formula the exponent falls half as fast; the properties of the methods must
// hold there, too.
TEST(Scaling, TheIntroScheduleKeepsThePromises) {
    const Eigen::VectorXd plain = frequencies(64, 10000, FrequencyFormula::worked_example);
    Scaling scaling = methodOf(ScalingMethod::ntk, 8);
    const auto scaled = [&] {
        return scaledFrequencies(64, 10000, FrequencyFormula::worked_example, scaling, 4096).theta;
    };
    EXPECT_NEAR(plain[31] / scaled()[31], 8.0, 1e-9);
    scaling.method = ScalingMethod::yarn;
    scaling.original_length = 200;
    for (int i = 0; i < 32; ++i) {
        const double rotations = 200 * plain[i] / (2 * kPi), kept = scaled()[i] / plain[i];
        if (rotations > 40) {
            EXPECT_DOUBLE_EQ(kept, 1.0) << i;
        } else if (rotations < 0.8) {
            EXPECT_NEAR(kept, 1.0 / 8, 1e-12) << i;
        }
    }
    EXPECT_NEAR(
        std::pow(10000.0, -yarnCorrectionPair(3, 64, 10000, FrequencyFormula::worked_example, 200) / 64) *
            200,
        3 * 2 * kPi, 1e-9);
}

TEST(Scaling, DynamicNtkDoesNothingUpToTheOriginalLengthAndSlowsBeyond) {
    Scaling scaling = methodOf(ScalingMethod::dynamic_ntk, 2.0);
    scaling.original_length = 1000;
    const Eigen::VectorXd plain = frequencies(64);
    EXPECT_LT((scaledTheta(64, 10000, scaling, 500) - plain).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_LT((scaledTheta(64, 10000, scaling, 1000) - plain).cwiseAbs().maxCoeff(), 1e-15);
    // L' = 4 L: s grows to 2·4 − 1 = 7, the factor of the slowest pair.
    const Eigen::VectorXd beyond = scaledTheta(64, 10000, scaling, 4000);
    EXPECT_NEAR(plain[31] / beyond[31], 7.0, 1e-9);
    EXPECT_NEAR(plain[10] / beyond[10], std::pow(7.0, 10 / 31.0), 1e-9);
}

/// YaRN as in its paper: γ as a function of the number of rotations r = L/λ, with pair indices rounded as in
/// Hugging Face.
TEST(Scaling, YarnKeepsFastPairsAndDividesSlowOnes) {
    Scaling scaling = methodOf(ScalingMethod::yarn, 16.0);
    scaling.original_length = 4096;
    const int width = 128;
    const double base = 10000;
    const Eigen::VectorXd scaled = scaledTheta(width, base, scaling);
    // The pair that rotates β times in L solves L·b^(−2c/d) = 2πβ; solved here by bisection instead of
    // logarithms.
    const auto pair_with_rotations = [&](double rotations) {
        double low = -100, high = 200;
        for (int step = 0; step < 200; ++step) {
            const double middle = (low + high) / 2;
            (4096 * std::pow(base, -2 * middle / width) / (2 * kPi) > rotations ? low : high) = middle;
        }
        return low;
    };
    const double first = std::floor(pair_with_rotations(32)), last = std::ceil(pair_with_rotations(1));
    EXPECT_EQ(first, 20);  // transformers' _compute_yarn_parameters gives 20 and 46 here
    EXPECT_EQ(last, 46);
    for (int i = 0; i < width / 2; ++i) {
        const double theta = std::exp(-2.0 * i / width * std::log(base));
        const double share = i <= first ? 0.0 : i >= last ? 1.0 : (i - first) / (last - first);
        EXPECT_NEAR(scaled[i], (1 - share) * theta + share * theta / 16, 1e-15) << i;
    }
    EXPECT_NEAR(scaledFrequencies(width, base, FrequencyFormula::standard, scaling, 4096).attention_factor,
                1 + std::log(16) / 10, 1e-15);
    scaling.attention_factor = 0.5;
    EXPECT_EQ(scaledFrequencies(width, base, FrequencyFormula::standard, scaling, 4096).attention_factor,
              0.5);
}

TEST(Scaling, Llama3DecidesByWavelength) {
    Scaling scaling = methodOf(ScalingMethod::llama3, 8.0);
    scaling.original_length = 8192;
    const Eigen::VectorXd scaled = scaledTheta(128, 500000, scaling);
    int kept = 0, blended = 0, divided = 0;
    for (int i = 0; i < 64; ++i) {
        const double wavelength = 2 * kPi * std::pow(500000.0, i / 64.0);
        const double rotations = 8192 / wavelength;
        const double share = std::min(1.0, std::max(0.0, (rotations - 1) / 3));  // of the unscaled frequency
        (share == 1 ? kept : share == 0 ? divided : blended)++;
        // 2π/λ' = θ/8 + share·(θ − θ/8)
        EXPECT_NEAR(scaled[i] * wavelength / (2 * kPi), 0.125 + 0.875 * share, 1e-12) << i;
    }
    EXPECT_EQ(kept + blended + divided, 64);
    EXPECT_GT(kept, 20);
    EXPECT_GT(blended, 3);
    EXPECT_GT(divided, 20);
}

TEST(Scaling, PRopeStopsTheSlowestPairs) {
    Scaling scaling = methodOf(ScalingMethod::p_rope, 1);
    scaling.proportion = 0.75;
    const Eigen::VectorXd scaled = scaledTheta(16, 10000, scaling);
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(scaled[i], i < 6 ? frequencies(16)[i] : 0.0);
    scaling.proportion = 0;
    EXPECT_EQ(scaledTheta(16, 10000, scaling).maxCoeff(), 0.0);
}

// The number of pairs is that of Hugging Face, ⌊p·d/2⌋: of 64 pairs, 19 at p = 0.3 and 44 at p = 0.7.
TEST(Scaling, PRopeKeepsWholePairsAndDividesThem) {
    Scaling scaling = methodOf(ScalingMethod::p_rope, 1);
    for (const auto& [proportion, kept] : {std::pair{0.3, 19}, {0.7, 44}, {0.5, 32}, {1.0, 64}}) {
        scaling.proportion = proportion;
        EXPECT_EQ((scaledTheta(128, 10000, scaling).array() > 0).count(), kept) << proportion;
    }
    scaling.proportion_factor = 8;
    EXPECT_DOUBLE_EQ(scaledTheta(128, 10000, scaling)[10], frequencies(128)[10] / 8);
    scaling.proportion_factor = 0.5;
    EXPECT_THROW(scaledTheta(128, 10000, scaling), std::invalid_argument);
}

TEST(Scaling, LongRopeHasAFactorForEachPairAndOthersForLongTexts) {
    Scaling scaling = methodOf(ScalingMethod::longrope, 8);
    scaling.original_length = 1024;
    scaling.short_factors = Eigen::Vector4d(1, 1.5, 2, 3);
    scaling.long_factors = Eigen::Vector4d(1, 2, 10, 20);
    const Eigen::VectorXd plain = frequencies(8);
    const Eigen::VectorXd near = scaledTheta(8, 10000, scaling, 1024),
                          far = scaledTheta(8, 10000, scaling, 1025);
    for (int i = 0; i < 4; ++i) {
        EXPECT_DOUBLE_EQ(plain[i] / near[i], scaling.short_factors[i]);
        EXPECT_DOUBLE_EQ(plain[i] / far[i], scaling.long_factors[i]);
    }
    const auto on_cosines = [&] {
        return scaledFrequencies(8, 10000, FrequencyFormula::standard, scaling, 4096).attention_factor;
    };
    EXPECT_DOUBLE_EQ(on_cosines(), std::sqrt(1.3));  // ln 8 / ln 1024 = 3/10
    scaling.attention_factor = 1.1;
    EXPECT_EQ(on_cosines(), 1.1);
    scaling.long_factors[2] = 0;
    EXPECT_THROW(scaledTheta(8, 10000, scaling), std::invalid_argument);
}

TEST(Scaling, AListOfAnotherLengthIsInterpolated) {
    EXPECT_EQ(factorsPerPair(Eigen::VectorXd(), 3), Eigen::VectorXd::Ones(3));
    EXPECT_EQ(factorsPerPair(Eigen::Vector3d(1, 3, 7), 3), Eigen::Vector3d(1, 3, 7));
    const Eigen::VectorXd finer = factorsPerPair(Eigen::Vector3d(1, 3, 7), 5);
    const double expected[] = {1, 2, 3, 5, 7};
    for (int i = 0; i < 5; ++i)
        EXPECT_DOUBLE_EQ(finer[i], expected[i]);
    EXPECT_EQ(factorsPerPair(Eigen::Vector3d(1, 3, 7), 1)[0], 1);
    EXPECT_EQ(factorsPerPair(Eigen::Matrix<double, 1, 1>(4.0), 2), Eigen::Vector2d(4, 4));
}

TEST(Scaling, AFactorOfOneChangesNothing) {
    for (const ScalingMethod method : kScalingMethods) {
        if (method == ScalingMethod::p_rope) continue;
        const ScaledFrequencies scaled =
            scaledFrequencies(64, 10000, FrequencyFormula::standard, methodOf(method, 1.0), 4096);
        EXPECT_LT((scaled.theta - frequencies(64)).cwiseAbs().maxCoeff(), 1e-15);
        EXPECT_EQ(scaled.attention_factor, 1.0);
    }
}

TEST(Scaling, RefusesWhatMakesNoSense) {
    EXPECT_THROW(scaledTheta(64, 10000, methodOf(ScalingMethod::linear, 0.5)), std::invalid_argument);
    EXPECT_THROW(scaledTheta(64, 10000, methodOf(ScalingMethod::linear, NAN)), std::invalid_argument);
    EXPECT_THROW(scaledTheta(64, 10000, {}, 0), std::invalid_argument);
    Scaling crossed = methodOf(ScalingMethod::llama3, 8);
    crossed.high_frequency_factor = 0.5;
    EXPECT_THROW(scaledTheta(64, 10000, crossed), std::invalid_argument);
}

}  // namespace
}  // namespace roper
