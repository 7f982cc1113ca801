#include "core/compare/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/text.h"
#include "core/compare/statistics.h"

namespace roper {
namespace {

using Points = std::vector<std::pair<double, double>>;

/// Empty if the run, such as an imported one, does not record it.
std::optional<double> xOf(const MetricsRow& row, XAxis x_axis) {
    if (x_axis == XAxis::step) return static_cast<double>(row.step);
    if (x_axis == XAxis::time) return row.time_s;
    return row.tokens ? std::optional(static_cast<double>(*row.tokens)) : std::nullopt;
}

std::optional<double> xOf(const RunRecord& run, const EvaluationRow& row, XAxis x_axis) {
    return x_axis == XAxis::step   ? std::optional(static_cast<double>(row.step))
           : x_axis == XAxis::time ? row.time_s
                                   : tokensAt(run.metrics, row.step);
}

/// Values recorded at steps, averaged over equal bins of x; a bin with a value that is not finite has no
/// point. A point is at the right edge of its bin, so that runs of equal length share their x values.
Points averaged(const RunRecord& run, const QuantityInfo& info, XAxis x_axis, std::size_t bins) {
    Points points;
    if (run.metrics.empty()) return points;
    const double end = x_axis == XAxis::step ? static_cast<double>(run.specification.training.steps)
                                             : xOf(run.metrics.back(), x_axis).value_or(0);
    if (!(end > 0)) return points;
    std::size_t row = 0;
    for (std::size_t i = 1; i <= bins; ++i) {
        const double bin_end = end * static_cast<double>(i) / static_cast<double>(bins);
        double sum = 0;
        std::size_t count = 0;
        for (; row < run.metrics.size(); ++row) {
            const auto x = xOf(run.metrics[row], x_axis), value = info.from_metrics(run.metrics[row]);
            if (x && *x > bin_end) break;
            if (!x || !value) continue;
            sum += *value;
            ++count;
        }
        if (count > 0 && std::isfinite(sum)) points.emplace_back(bin_end, sum / static_cast<double>(count));
    }
    return points;
}

/// The value at x interpolated between two points; empty outside their range.
std::optional<double> valueAt(const Points& points, double x) {
    const auto after = std::lower_bound(points.begin(), points.end(), x,
                                        [](const auto& point, double at) { return point.first < at; });
    if (after == points.end()) return std::nullopt;
    if (after->first == x) return after->second;
    if (after == points.begin()) return std::nullopt;
    const auto before = after - 1;
    const double weight = (x - before->first) / (after->first - before->first);
    return before->second + weight * (after->second - before->second);
}

/// The x values at which runs are averaged: by step every x of any run, otherwise evenly spaced.
std::vector<double> xGrid(const std::vector<Points>& curves, XAxis x_axis) {
    constexpr int kGridPoints = 200;
    std::set<double> grid;
    double end = 0;
    for (const Points& points : curves)
        for (const auto& [x, y] : points) {
            if (x_axis == XAxis::step) grid.insert(x);
            end = std::max(end, x);
        }
    if (x_axis != XAxis::step)
        for (int i = 1; i <= kGridPoints; ++i)
            grid.insert(end * i / kGridPoints);
    return {grid.begin(), grid.end()};
}

Interval spreadInterval(const Summary& summary, Spread spread) {
    if (summary.count < 2) return {summary.mean, summary.mean};
    switch (spread) {
        case Spread::range:
            return {summary.minimum, summary.maximum};
        case Spread::standard_error:
            return {summary.mean - summary.error, summary.mean + summary.error};
        default:
            return *meanInterval(summary);
    }
}

}  // namespace

std::optional<double> tokensAt(std::span<const MetricsRow> rows, std::int64_t step) {
    const auto after = std::ranges::lower_bound(rows, step, {}, &MetricsRow::step);
    static const MetricsRow start{.tokens = 0};
    const MetricsRow& before = after == rows.begin() ? start : *(after - 1);
    // After the last row, which is at most a few steps earlier, the mean rate is extrapolated.
    const MetricsRow& next = after == rows.end() ? before : *after;
    if (!before.tokens || !next.tokens || next.step == 0) return std::nullopt;
    const auto at = static_cast<double>(step);
    if (after == rows.end()) return static_cast<double>(*next.tokens) * at / static_cast<double>(next.step);
    const auto from = static_cast<double>(before.step), to = static_cast<double>(next.step);
    return std::lerp(static_cast<double>(*before.tokens), static_cast<double>(*next.tokens),
                     to > from ? (at - from) / (to - from) : 1);
}

Points runCurve(const RunRecord& run, Quantity quantity, XAxis x_axis, std::size_t bins) {
    const QuantityInfo& info = infoOf(quantity);
    if (info.from_metrics) return averaged(run, info, x_axis, bins);
    Points points;
    if (!info.from_evaluation) return points;
    for (const EvaluationRow& row : run.evaluations) {
        const auto value = info.from_evaluation(row);
        const auto x = xOf(run, row, x_axis);
        if (x && value && std::isfinite(*value)) points.emplace_back(*x, *value);
    }
    return points;
}

MeanCurve meanCurve(std::span<const RunRecord> runs, const std::vector<std::size_t>& members,
                    Quantity quantity, XAxis x_axis, Spread spread, double from) {
    const auto curves =
        mapped(members, [&](std::size_t member) { return runCurve(runs[member], quantity, x_axis); });
    const std::vector<double> grid_x = xGrid(curves, x_axis);
    MeanCurve curve;
    for (const double x : grid_x) {
        if (x < from * grid_x.back()) continue;
        std::vector<double> values;
        for (const Points& points : curves)
            if (const auto value = valueAt(points, x)) values.push_back(*value);
        if (values.empty()) continue;
        const Summary summary = summarize(values);
        const Interval about = spreadInterval(summary, spread);
        curve.x.push_back(x);
        curve.mean.push_back(summary.mean);
        curve.low.push_back(about.low);
        curve.high.push_back(about.high);
        curve.runs.push_back(static_cast<int>(values.size()));
    }
    return curve;
}

std::vector<std::size_t> withoutWorst(std::span<const RunRecord> runs,
                                      const std::vector<std::size_t>& members, Measure measure,
                                      double solved_fraction) {
    if (members.size() < 2) return members;
    const bool higher_is_better = infoOf(measure).higher_is_better;
    const auto merit = [&](std::size_t member) {
        const OutcomeValue outcome = outcomeOf(runs[member], measure, solved_fraction);
        if (outcome.kind != Outcome::known) return -std::numeric_limits<double>::infinity();
        return higher_is_better ? outcome.value : -outcome.value;
    };
    std::size_t worst = 0;
    for (std::size_t i = 1; i < members.size(); ++i)
        if (merit(members[i]) <= merit(members[worst])) worst = i;
    std::vector<std::size_t> rest = members;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(worst));
    return rest;
}

}  // namespace roper
