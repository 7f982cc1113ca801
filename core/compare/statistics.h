#pragma once

#include <optional>
#include <span>
#include <vector>

namespace roper {

/// Confidence of intervals, and significance level of tests.
inline constexpr double kConfidence = 0.95, kSignificance = 0.05;

struct Interval {
    double low = 0, high = 0;

    bool contains(double value) const { return low <= value && value <= high; }
};

/// Summary of a sample. NaN if there are too few values.
struct Summary {
    std::size_t count = 0;
    double mean = 0;
    double standard_deviation = 0;  ///< of the sample, with n − 1
    double error = 0;               ///< standard error of the mean
    double minimum = 0, maximum = 0;
};

Summary summarize(std::span<const double> values);

/// The median of at least one value; for an even number the mean of the two in the middle.
double median(std::vector<double> values);

/// Student's confidence interval of the mean: mean ± t_{n−1} · standard error. Empty for fewer than two
/// values.
std::optional<Interval> meanInterval(const Summary& summary, double confidence = kConfidence);

/// Student's t-test of paired differences against a mean of 0, two-sided (Student 1908; same results as
/// scipy.stats.ttest_rel). `t` is infinite if all differences are equal and not 0.
struct PairedTest {
    Summary difference;
    double t = 0, p = 1;
    Interval interval;  ///< Student's confidence interval of the mean difference
    /// Bootstrap interval; empty for fewer pairs than `kMinPairsForBootstrap`, which allow too few different
    /// resamples.
    std::optional<Interval> bootstrap;
    /// p of the exact permutation test (`permutationTest`), which does not assume normality.
    std::optional<double> permutation_p;
    static constexpr std::size_t kMinPairsForBootstrap = 6;
};

/// Empty for fewer than two differences.
std::optional<PairedTest> pairedTest(std::span<const double> differences);

/// Exact permutation test of paired differences against a mean of 0, two-sided (Fisher 1935): the fraction of
/// all 2ⁿ sign assignments whose sum is at least as far from 0 (same results as scipy.stats.permutation_test
/// with "samples"). Empty for no differences, or more than `kMaxPairsForPermutation`.
std::optional<double> permutationTest(std::span<const double> differences);
inline constexpr std::size_t kMaxPairsForPermutation = 20;

/// Two one-sided t-tests of paired differences (Schuirmann 1987; same results as statsmodels' ttost_paired):
/// whether the true mean lies within ±bound.
struct EquivalenceTest {
    double bound = 0;
    /// Student's interval of the mean difference with confidence 1 − 2·kSignificance: equivalence is shown if
    /// it lies within the bounds.
    Interval interval;
    double p = 1;  ///< the larger p of the two tests
};

/// Empty for fewer than two differences.
/// @param bound  above 0, in units of the differences
std::optional<EquivalenceTest> equivalenceTest(std::span<const double> differences, double bound);

/// Bootstrap percentile interval of the mean from 10,000 resamples (Efron 1979), drawn with a fixed seed. It
/// is too narrow for a handful of values; use Student's then.
Interval bootstrapInterval(std::span<const double> values, double confidence = kConfidence);

/// The smallest number of pairs with which a paired t-test detects a true difference of `mean` with a power
/// of 0.8, given the standard deviation of the differences. Empty if it exceeds `kMaxPairsNeeded`.
std::optional<int> pairsNeeded(double mean, double standard_deviation);
inline constexpr int kMaxPairsNeeded = 1000;

/// p-values of several tests, corrected to control the family-wise error rate (Holm 1979; same results as
/// statsmodels' multipletests with "holm"). In the given order.
std::vector<double> holmCorrected(std::span<const double> p);

/// Two-sided sign test: probability of a split at least as uneven if both signs are equally likely.
double signTest(int plus, int minus);

}  // namespace roper
