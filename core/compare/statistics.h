#pragma once

#include <optional>
#include <span>
#include <vector>

namespace roper {

struct Interval {
    double low = 0, high = 0;

    bool holds(double value) const { return low <= value && value <= high; }
};

/// What a sample says about its mean. Not-a-number where there are too few values.
struct Summary {
    std::size_t count = 0;
    double mean = 0;
    double deviation = 0;  ///< of the sample, with n − 1
    double error = 0;      ///< standard error of the mean
    double least = 0, greatest = 0;
};

Summary summarize(std::span<const double> values);

/// The middle value, or the mean of the two in the middle; there must be one.
double median(std::vector<double> values);

/// Student's interval of the mean: mean ± t_{n−1} · standard error. Nothing for fewer than two values.
std::optional<Interval> meanInterval(const Summary& summary, double confidence = 0.95);

/// Student's t-test of paired differences against a mean of 0, two-sided (Student 1908; the same as
/// scipy.stats.ttest_rel). `t` is infinite where all differences are the same and not 0.
struct PairedTest {
    Summary difference;
    double t = 0, p = 1;
    Interval interval;  ///< of the mean difference, Student's
    /// The same by the bootstrap; none of fewer pairs than `kLeastForBootstrap`, of which it can draw too few
    /// different samples to mean anything.
    std::optional<Interval> bootstrap;
    /// p of the exact permutation test (`signFlipTest`), which takes no differences to be normal.
    std::optional<double> permutation_p;
    static constexpr std::size_t kLeastForBootstrap = 6;
};

/// Nothing for fewer than two differences.
std::optional<PairedTest> pairedTest(std::span<const double> differences, double confidence = 0.95);

/// Exact permutation test of paired differences against a mean of 0, two-sided (Fisher 1935): the share of
/// all 2ⁿ ways to choose their signs whose sum lies at least as far from 0 (the same as
/// scipy.stats.permutation_test with "samples"). Nothing for none, or for more than `kMostToPermute`.
std::optional<double> signFlipTest(std::span<const double> differences);
inline constexpr std::size_t kMostToPermute = 20;

/// Two one-sided t-tests of paired differences (Schuirmann 1987; the same as statsmodels' ttost_paired):
/// whether the true mean lies within ±bound.
struct EquivalenceTest {
    double bound = 0;
    Interval interval;  ///< of the mean difference, Student's with 1 − 2·level: equivalence is shown where it
                        ///< lies within the bounds
    double p = 1;  ///< of the worse of both tests
};

/// Nothing for fewer than two differences. @param bound  above 0
std::optional<EquivalenceTest> equivalenceTest(std::span<const double> differences, double bound,
                                               double level = 0.05);

/// Percentile interval of the mean from 10,000 resamples (Efron 1979), drawn from a fixed seed. With a
/// handful of values it is too narrow; Student's is the one to trust then.
Interval bootstrapInterval(std::span<const double> values, double confidence = 0.95);

/// The fewest pairs with which a paired t-test finds a true difference of `mean` with this chance, if the
/// differences scatter by `deviation`. Nothing if it is more than `most`.
std::optional<int> pairsNeeded(double mean, double deviation, double confidence = 0.95, double power = 0.8,
                               int most = 1000);

/// p-values of several tests, each corrected so that the chance of any false finding among them stays below
/// the level (Holm 1979; the same as statsmodels' multipletests with "holm"). In the order given.
std::vector<double> holmCorrected(std::span<const double> p);

/// Two-sided sign test: the chance of a split at least as uneven if both signs are as likely.
double signTest(int plus, int minus);

}  // namespace roper
