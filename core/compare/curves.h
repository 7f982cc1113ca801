#pragma once

#include <vector>

#include "core/compare/grouping.h"
#include "core/compare/quantity.h"

namespace roper {

/// What is on the x axis of a curve.
enum class XAxis { step, time, tokens };

/// What the band around a mean shows.
enum class Spread {
    range,           ///< least to greatest run
    standard_error,  ///< mean ± standard error
    interval,        ///< Student's 95 % confidence interval of the mean
};

/// Mean over runs and the band around it. Where fewer than two runs have a value the band is the mean itself.
struct Band {
    std::vector<double> x, mean, low, high;
    std::vector<int> runs;  ///< how many runs have a value at each x
};

/// Tokens that a run was trained on up to a step, which evaluations do not record, from the rows that do: on
/// a line between two of them. Nothing where none does.
std::optional<double> tokensAt(std::span<const MetricsRow> rows, std::int64_t step);

/// Points of one run, by rising x: the same numbers that `bandOf` averages. What is recorded at every step is
/// averaged over equal bins of x first; what only some methods record has no curve here.
std::vector<std::pair<double, double>> curveOf(const RunRecord& run, Quantity what, XAxis across,
                                               std::size_t bins = 200);

/// Mean and band of several runs. By step, runs share their x values; by time or tokens each run is
/// interpolated between its own points, and no further than they reach.
/// @param from  fraction of the x range to leave out at its start: 0.5 gives the "final half" of the RoPER
/// note
Band bandOf(std::span<const RunRecord> runs, const std::vector<std::size_t>& members, Quantity what,
            XAxis across, Spread spread, double from = 0);

/// The group without the run whose outcome is worst; runs without an outcome go before any that has one. A
/// group of one keeps it. Ties drop the later run.
/// @param share  of problems solved, for `Measure::steps_until`
std::vector<std::size_t> withoutWorst(std::span<const RunRecord> runs,
                                      const std::vector<std::size_t>& members, Measure measure, double share);

}  // namespace roper
