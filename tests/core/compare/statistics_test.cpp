#include "core/compare/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace roper {
namespace {

// "Student" (1908), data of Cushny and Peebles: extra hours of sleep of ten patients under two drugs.
const std::vector<double> kSleep = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

TEST(Statistics, StudentsOwnExample) {
    const auto test = pairedTest(kSleep);
    ASSERT_TRUE(test);
    EXPECT_NEAR(test->difference.mean, 1.58, 1e-12);
    EXPECT_NEAR(test->difference.standard_deviation, 1.2299954833, 1e-9);
    EXPECT_NEAR(test->t, 4.0621276831, 1e-9);  // as in R: t.test(sleep, paired)
    EXPECT_NEAR(test->p, 0.0028328902, 1e-9);
    EXPECT_NEAR(test->interval.low, 0.7001142, 1e-6);
    EXPECT_NEAR(test->interval.high, 2.4598858, 1e-6);
}

TEST(Statistics, FewValuesSayLittle) {
    EXPECT_FALSE(pairedTest(std::vector<double>{}));
    EXPECT_FALSE(pairedTest(std::vector<double>{3.0}));
    EXPECT_TRUE(std::isnan(summarize(std::vector<double>{}).mean));
    EXPECT_EQ(summarize(std::vector<double>{3.0}).mean, 3.0);
    EXPECT_TRUE(std::isnan(summarize(std::vector<double>{3.0}).standard_deviation));
    const auto same = pairedTest(std::vector<double>{2.0, 2.0, 2.0});
    EXPECT_TRUE(std::isinf(same->t));
    EXPECT_EQ(same->p, 0);
    const auto nothing = pairedTest(std::vector<double>{0.0, 0.0});
    EXPECT_EQ(nothing->p, 1);
}

/// Exact distribution of the mean of a resample of two values: each value twice with probability 1/4.
TEST(Statistics, TheBootstrapOfTwoValuesReachesBoth) {
    const Interval interval = bootstrapInterval(std::vector<double>{1.0, 3.0});
    EXPECT_EQ(interval.low, 1.0);
    EXPECT_EQ(interval.high, 3.0);
    EXPECT_EQ(bootstrapInterval(std::vector<double>{1.0, 3.0}, 0.4).low, 2.0);
}

TEST(Statistics, TheBootstrapOfManyValuesAgreesWithStudent) {
    std::vector<double> values;
    for (int i = 0; i < 400; ++i)
        values.push_back(std::sin(1.0 + i) * 3 + 1);
    const auto test = pairedTest(values);
    EXPECT_NEAR(test->bootstrap->low, test->interval.low, 0.02);
    EXPECT_NEAR(test->bootstrap->high, test->interval.high, 0.02);
}

// Cohen (1988), table 2.3.5 for one sample: for a power of 0.8 at two-sided 0.05, an effect of 0.5 needs 34
// pairs and an effect of 0.8 needs 15 (confirmed by G*Power).
TEST(Statistics, PairsNeededAreThoseOfTheTables) {
    EXPECT_EQ(pairsNeeded(0.5, 1.0), 34);
    EXPECT_EQ(pairsNeeded(-0.8, 1.0), 15);
    EXPECT_EQ(pairsNeeded(16, 20), 15);
    EXPECT_FALSE(pairsNeeded(0.001, 1.0));
    EXPECT_FALSE(pairsNeeded(0.0, 1.0));
    EXPECT_EQ(pairsNeeded(5.0, 0.0), 2);
    EXPECT_EQ(pairsNeeded(0.8, 1e-14), 2);
}

TEST(Statistics, TheSignTestCountsSplits) {
    EXPECT_EQ(signTest(0, 0), 1);
    EXPECT_DOUBLE_EQ(signTest(5, 0), 2.0 / 32);
    EXPECT_DOUBLE_EQ(signTest(1, 4), 2.0 * 6 / 32);
    EXPECT_EQ(signTest(3, 3), 1);
}

// Expected values from statsmodels 0.14: multipletests([0.01, 0.04, 0.03, 0.005], method="holm").
TEST(Statistics, HolmsCorrectionIsThatOfStatsmodels) {
    const std::vector<double> p{0.01, 0.04, 0.03, 0.005}, expected{0.03, 0.06, 0.06, 0.02};
    const std::vector<double> corrected = holmCorrected(p);
    for (std::size_t i = 0; i < p.size(); ++i)
        EXPECT_NEAR(corrected[i], expected[i], 1e-15);
    EXPECT_TRUE(holmCorrected({}).empty());
    EXPECT_EQ(holmCorrected(std::vector<double>{0.7, 0.8}), (std::vector<double>{1, 1}));
}

// Reference values from scipy and statsmodels: tests/parity/statistics_reference.py.
TEST(Statistics, AgreeWithScipyAndStatsmodels) {
    std::ifstream file(ROPER_STATISTICS_REFERENCE);
    const auto reference = nlohmann::json::parse(file);
    ASSERT_GE(reference["cases"].size(), 19U);
    for (const auto& expected : reference["cases"]) {
        const auto differences = expected["differences"].get<std::vector<double>>();
        SCOPED_TRACE(expected["differences"].dump());
        const auto test = pairedTest(differences);
        ASSERT_TRUE(test);
        EXPECT_NEAR(test->t, expected["t"].get<double>(), 1e-9);
        const auto expectP = [](double p, double right) {
            EXPECT_NEAR(p, right, 1e-9 * right) << "relatively";
        };
        expectP(test->p, expected["p"].get<double>());
        EXPECT_NEAR(test->interval.low, expected["low"].get<double>(), 1e-9);
        EXPECT_NEAR(test->interval.high, expected["high"].get<double>(), 1e-9);
        expectP(test->permutation_p.value(), expected["permutation_p"].get<double>());
        expectP(equivalenceTest(differences, expected["bound"])->p, expected["equivalence_p"].get<double>());
        expectP(signTest(expected["plus"], expected["minus"]), expected["sign_p"].get<double>());
        const auto pairs = pairsNeeded(test->difference.mean, test->difference.standard_deviation);
        EXPECT_EQ(pairs ? nlohmann::json(*pairs) : nlohmann::json(), expected["pairs"]);
    }
    const std::vector<double> corrected = holmCorrected(reference["holm"]["p"].get<std::vector<double>>());
    for (std::size_t i = 0; i < corrected.size(); ++i)
        EXPECT_NEAR(corrected[i], reference["holm"]["corrected"][i].get<double>(), 1e-9);
}

TEST(Statistics, EquivalenceIsShownWhereTheIntervalLiesWithinTheBounds) {
    for (const double bound : {0.5, 1.5, 2.4, 3.0}) {
        const auto test = equivalenceTest(kSleep, bound);
        const bool within = -bound < test->interval.low && test->interval.high < bound;
        EXPECT_EQ(test->p < 0.05, within) << bound;
    }
    EXPECT_EQ(equivalenceTest(std::vector<double>{0.1, 0.1}, 1)->p, 0);
    EXPECT_EQ(equivalenceTest(std::vector<double>{2, 2}, 1)->p, 1);
    EXPECT_FALSE(equivalenceTest(std::vector<double>{1}, 1));
}

TEST(Statistics, ThePermutationTestIsExact) {
    EXPECT_EQ(permutationTest(std::vector<double>{1, 2, 3}), 2.0 / 8);
    EXPECT_EQ(permutationTest(std::vector<double>{1, 1, -1}), 1.0);
    EXPECT_EQ(permutationTest(std::vector<double>{0, 0}), 1.0);
    EXPECT_EQ(permutationTest(std::vector<double>(20, 0.1)), 2.0 / (1 << 20));
    EXPECT_FALSE(permutationTest(std::vector<double>{}));
    EXPECT_FALSE(permutationTest(std::vector<double>(kMaxPairsForPermutation + 1, 0.1)));
}

TEST(Statistics, TheMedianIsTheMiddleValue) {
    EXPECT_EQ(median({3, 1, 2}), 2);
    EXPECT_EQ(median({5}), 5);
    EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_EQ(median({7, 5}), 6);
}

}  // namespace
}  // namespace roper
