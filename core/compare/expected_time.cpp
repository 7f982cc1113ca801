#include "core/compare/expected_time.h"

#include <algorithm>
#include <map>
#include <thread>

#include "core/compare/grouping.h"
#include "core/specification/cost.h"

namespace roper {
namespace {

// What is assumed where nothing was timed: half of what two cores with AVX-512 and bfloat16 reach on small
// models, and a tenth of what a data-centre GPU does.
constexpr double kCpuFlopPerSecondAndCore = 25e9;
constexpr double kGpuFlopPerSecond = 5e12;

double medianOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Median time of a step over a run's second half; the first steps are slower.
std::optional<double> stepSeconds(const RunRecord& run) {
    constexpr std::size_t kFewestRows = 10;
    const auto rows = run.metrics;
    if (rows.size() < kFewestRows) return std::nullopt;
    std::vector<double> seconds;
    for (std::size_t i = rows.size() / 2; i < rows.size(); ++i) {
        const auto steps = static_cast<double>(rows[i].step - rows[i - 1].step);
        if (steps > 0) seconds.push_back((rows[i].time_s - rows[i - 1].time_s) / steps);
    }
    if (seconds.empty()) return std::nullopt;
    return medianOf(std::move(seconds));
}

/// Multiply-adds and additions per second of the runs of this machine, the median; nothing without a run.
std::optional<double> flopPerSecond(std::span<const RunRecord> runs, const std::string& host) {
    std::vector<double> rates;
    for (const RunRecord& run : runs) {
        if (run.host != host) continue;
        const auto seconds = stepSeconds(run);
        if (seconds && *seconds > 0) rates.push_back(costOf(run.specification).flop_a_step / *seconds);
    }
    if (rates.empty()) return std::nullopt;
    return medianOf(std::move(rates));
}

double assumedFlopPerSecond(const Specification& specification) {
    if (specification.device.name.starts_with("cuda")) return kGpuFlopPerSecond;
    const auto cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
    return kCpuFlopPerSecondAndCore * cores;
}

/// What the evaluations of a run take, in training steps.
double evaluationSteps(const Specification& specification, std::int64_t from) {
    const auto& evaluation = specification.evaluation;
    if (evaluation.every <= 0) return 0;
    const auto rounds =
        static_cast<double>(specification.training.steps / evaluation.every - from / evaluation.every);
    return rounds * 2 * static_cast<double>(evaluation.problems) /
           static_cast<double>(specification.training.batch);
}

}  // namespace

std::optional<double> secondsAStep(std::span<const RunRecord> runs, const Specification& specification,
                                   const Speeds& speeds) {
    const std::string group = groupKey(specification), shape = shapeKey(specification);
    std::optional<double> least_of_group, least_of_shape;
    for (const RunRecord& run : runs) {
        if (run.host != speeds.host) continue;
        const bool is_same = groupKey(run.specification) == group;
        if (!is_same && shapeKey(run.specification) != shape) continue;
        auto& least = is_same ? least_of_group : least_of_shape;
        const auto seconds = stepSeconds(run);
        if (seconds && (!least || *seconds < *least)) least = seconds;
    }
    if (least_of_group) return least_of_group;
    return least_of_shape ? least_of_shape : speeds.secondsAStep(shape);
}

ExpectedTime expectedTime(std::span<const RunRecord> runs, const Specification& specification,
                          const Speeds& speeds, std::int64_t from) {
    ExpectedTime time;
    auto step = secondsAStep(runs, specification, speeds);
    if (!step) {
        const auto rate = flopPerSecond(runs, speeds.host);
        time.basis = rate ? ExpectedTime::Basis::other_runs : ExpectedTime::Basis::guess;
        step = costOf(specification).flop_a_step / rate.value_or(assumedFlopPerSecond(specification));
    }
    const auto steps = static_cast<double>(std::max<std::int64_t>(0, specification.training.steps - from));
    time.seconds = *step * (steps + evaluationSteps(specification, from));
    return time;
}

ExpectedTime expectedTime(std::span<const RunRecord> runs, std::span<const Specification> specifications,
                          const Speeds& speeds) {
    ExpectedTime sum;
    std::map<std::string, ExpectedTime> known;  // seeds take the same
    for (const Specification& specification : specifications) {
        const std::string key = groupKey(specification) + shapeKey(specification);
        auto found = known.find(key);
        if (found == known.end()) found = known.emplace(key, expectedTime(runs, specification, speeds)).first;
        sum.seconds += found->second.seconds;
        sum.basis = std::max(sum.basis, found->second.basis);
    }
    return sum;
}

}  // namespace roper
