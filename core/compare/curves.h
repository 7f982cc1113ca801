#pragma once

#include <vector>

#include "core/compare/grouping.h"
#include "core/compare/quantity.h"

namespace roper {

/// Quantity on the x axis of a curve; time is in seconds.
enum class XAxis { step, time, tokens };

/// Meaning of the band around a mean.
enum class Spread {
    range,           ///< minimum to maximum
    standard_error,  ///< mean ± standard error
    interval,        ///< Student's 95 % confidence interval of the mean
};

/// Mean over runs with its band. Where fewer than two runs have a value, the band is the mean itself.
struct MeanCurve {
    std::vector<double> x, mean, low, high;  ///< of equal length
    std::vector<int> runs;                   ///< number of runs with a value at each x
};

/// Number of training tokens up to a step, interpolated linearly between rows of metrics, since evaluations
/// do not record it. Empty if these rows do not either.
std::optional<double> tokensAt(std::span<const MetricsRow> rows, std::int64_t step);

/// Points (x, value) of one run, by ascending x: the values that `meanCurve` averages. Quantities recorded at
/// every step are first averaged over equal bins of x; those that only some methods record have no curve
/// here.
std::vector<std::pair<double, double>> runCurve(const RunRecord& run, Quantity quantity, XAxis x_axis,
                                                std::size_t bins = 200);

/// Mean and band of several runs. By step, runs share their x values; by time or tokens each run is
/// interpolated between its own points, without extrapolation.
/// @param members  indices of the runs to average
/// @param from     fraction of the x range to omit at its start: 0.5 gives the "final half" of the RoPER note
MeanCurve meanCurve(std::span<const RunRecord> runs, const std::vector<std::size_t>& members,
                    Quantity quantity, XAxis x_axis, Spread spread, double from = 0);

/// `members` without the run with the worst outcome; an unknown outcome is worst. A single run is kept. Of
/// equal runs the later one is removed.
/// @param solved_fraction  of the problems, for `Measure::steps_until`
std::vector<std::size_t> withoutWorst(std::span<const RunRecord> runs,
                                      const std::vector<std::size_t>& members, Measure measure,
                                      double solved_fraction);

}  // namespace roper
