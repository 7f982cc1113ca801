#include "core/compare/statistics.h"

#include <algorithm>
#include <bit>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/random.h"

namespace roper {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The quantile with an upper tail of (1 − confidence)/2.
double studentQuantile(double confidence, double degrees) {
    return boost::math::quantile(boost::math::students_t(degrees), 0.5 + confidence / 2);
}

}  // namespace

Summary summarize(std::span<const double> values) {
    Summary summary{values.size(), kNaN, kNaN, kNaN, kNaN, kNaN};
    if (values.empty()) return summary;
    const auto n = static_cast<double>(values.size());
    summary.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    const auto [minimum, maximum] = std::ranges::minmax_element(values);
    summary.minimum = *minimum;
    summary.maximum = *maximum;
    if (values.size() < 2) return summary;
    double squares = 0;
    for (const double value : values)
        squares += (value - summary.mean) * (value - summary.mean);
    summary.standard_deviation = std::sqrt(squares / (n - 1));
    summary.error = summary.standard_deviation / std::sqrt(n);
    return summary;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::optional<Interval> meanInterval(const Summary& summary, double confidence) {
    if (summary.count < 2) return std::nullopt;
    const double half = studentQuantile(confidence, static_cast<double>(summary.count - 1)) * summary.error;
    return Interval{summary.mean - half, summary.mean + half};
}

std::optional<PairedTest> pairedTest(std::span<const double> differences) {
    if (differences.size() < 2) return std::nullopt;
    PairedTest test;
    test.difference = summarize(differences);
    test.interval = *meanInterval(test.difference);
    if (differences.size() >= PairedTest::kMinPairsForBootstrap)
        test.bootstrap = bootstrapInterval(differences);
    test.permutation_p = permutationTest(differences);
    const double mean = test.difference.mean, error = test.difference.error;
    constexpr double kRounding = 1e-13;  // relative to the mean: differences that are equal up to rounding
    if (error > kRounding * std::abs(mean)) {
        test.t = mean / error;
        const boost::math::students_t distribution(static_cast<double>(differences.size() - 1));
        test.p = 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(test.t)));
    } else if (mean != 0) {
        test.t = std::copysign(std::numeric_limits<double>::infinity(), mean);
        test.p = 0;
    }
    return test;
}

std::optional<double> permutationTest(std::span<const double> differences) {
    if (differences.empty() || differences.size() > kMaxPairsForPermutation) return std::nullopt;
    constexpr double kRounding = 1e-12;  // sums that are equal up to the order of summation
    double sum = 0, size = 0;
    for (const double difference : differences) {
        sum += difference;
        size += std::abs(difference);
    }
    const double limit = std::abs(sum) - kRounding * size;
    std::vector<double> signed_values(differences.begin(), differences.end());
    const std::uint64_t all = std::uint64_t{1} << differences.size();
    std::uint64_t as_far = 0;
    // Gray code: consecutive sign choices differ in a single sign.
    for (std::uint64_t choice = 1;; ++choice) {
        if (std::abs(sum) >= limit) ++as_far;
        if (choice == all) break;
        double& flipped = signed_values[static_cast<std::size_t>(std::countr_zero(choice))];
        sum -= 2 * flipped;
        flipped = -flipped;
    }
    return static_cast<double>(as_far) / static_cast<double>(all);
}

std::optional<EquivalenceTest> equivalenceTest(std::span<const double> differences, double bound) {
    const Summary summary = summarize(differences);
    const auto interval = meanInterval(summary, 1 - 2 * kSignificance);
    if (!interval) return std::nullopt;
    // Distance of the mean from the nearer bound, positive inside; without variance the result is certain.
    const double inside = bound - std::abs(summary.mean);
    EquivalenceTest test{bound, *interval, inside > 0 ? 0.0 : 1.0};
    if (summary.error > 0) {
        const boost::math::students_t distribution(static_cast<double>(differences.size() - 1));
        test.p = boost::math::cdf(boost::math::complement(distribution, inside / summary.error));
    }
    return test;
}

Interval bootstrapInterval(std::span<const double> values, double confidence) {
    constexpr std::size_t kResamples = 10000;
    constexpr std::uint64_t kSeed = 1979;
    Random random(kSeed, Stream::sampling, values.size());
    std::vector<double> means(kResamples);
    const auto last = static_cast<std::int64_t>(values.size()) - 1;
    for (double& mean : means) {
        double sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            sum += values[static_cast<std::size_t>(random.between(0, last))];
        mean = sum / static_cast<double>(values.size());
    }
    std::ranges::sort(means);
    const auto at = [&](double fraction) {
        return means[static_cast<std::size_t>(std::lround(fraction * (kResamples - 1)))];
    };
    return {at((1 - confidence) / 2), at((1 + confidence) / 2)};
}

std::optional<int> pairsNeeded(double mean, double standard_deviation) {
    constexpr double kPower = 0.8;
    // Above this effect, mean/deviation, the deviation counts as rounding error, and the non-central t
    // distribution cannot be computed.
    constexpr double kCertain = 100;
    if (!(standard_deviation > 0)) return 2;
    const double effect = std::abs(mean) / standard_deviation;
    if (!(effect > 0)) return std::nullopt;
    if (effect > kCertain) return 2;
    const auto finds = [&](int pairs) {
        const double degrees = pairs - 1, critical = studentQuantile(kConfidence, degrees);
        const boost::math::non_central_t distribution(degrees, effect * std::sqrt(pairs));
        return boost::math::cdf(boost::math::complement(distribution, critical)) >= kPower;
    };
    // The power increases with the number of pairs.
    int low = 1, high = 2;
    while (!finds(high)) {
        low = high;
        high *= 2;
        if (low >= kMaxPairsNeeded) return std::nullopt;
    }
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (finds(middle) ? high : low) = middle;
    }
    return high <= kMaxPairsNeeded ? std::optional(high) : std::nullopt;
}

std::vector<double> holmCorrected(std::span<const double> p) {
    std::vector<std::size_t> rising(p.size());
    std::iota(rising.begin(), rising.end(), std::size_t{0});
    std::ranges::stable_sort(rising, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    std::vector<double> corrected(p.size());
    double maximum = 0;
    for (std::size_t rank = 0; rank < rising.size(); ++rank) {
        maximum = std::max(maximum, static_cast<double>(p.size() - rank) * p[rising[rank]]);
        corrected[rising[rank]] = std::min(1.0, maximum);
    }
    return corrected;
}

double signTest(int plus, int minus) {
    const int n = plus + minus;
    if (n == 0) return 1;
    const boost::math::binomial distribution(n, 0.5);
    return std::min(1.0, 2 * boost::math::cdf(distribution, std::min(plus, minus)));
}

}  // namespace roper
