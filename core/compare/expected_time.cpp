#include "core/compare/expected_time.h"

#include <algorithm>
#include <utility>

#include "core/base/available.h"
#include "core/compare/grouping.h"
#include "core/compare/statistics.h"
#include "core/specification/cost.h"
#include "core/specification/presets.h"

namespace roper {
namespace {

// Assumed rates if nothing was timed: half of what two cores with AVX-512 and bfloat16 reach on small models,
// and a tenth of a data-center GPU's rate.
constexpr double kCpuFlopPerSecondAndCore = 25e9;
constexpr double kGpuFlopPerSecond = 5e12;

double assumedFlopPerSecond(const Specification& specification) {
    if (specification.device.name.starts_with("cuda")) return kGpuFlopPerSecond;
    const auto cores = static_cast<double>(usableCores());
    return kCpuFlopPerSecondAndCore * cores;
}

/// Cost of a run's evaluations, in training steps.
double evaluationSteps(const Specification& specification, std::int64_t from) {
    const auto& evaluation = specification.evaluation;
    if (evaluation.every <= 0) return 0;
    const auto rounds =
        static_cast<double>(specification.training.steps / evaluation.every - from / evaluation.every);
    return rounds * static_cast<double>(evaluation.problems) /
           static_cast<double>(specification.training.batch);
}

/// Seconds per step of the bundled presets and their twins on two CPU cores, by `stepTimeKey`.
std::map<std::string, double> timesOfPresets() {
    std::map<std::string, double> seconds;
    for (const std::string& name : presetNames()) {
        const Specification preset = loadPreset(name).specification;
        if (preset.about.minutes <= 0) continue;
        const double steps = static_cast<double>(preset.training.steps) + evaluationSteps(preset, 0);
        for (const std::string& method : twinMethods())
            seconds.emplace(stepTimeKey(withPosition(preset, method)), 60 * preset.about.minutes / steps);
    }
    return seconds;
}

/// Used if nothing was timed: from the time in a preset of the same shape, or from an assumed rate.
double assumedSecondsPerStep(const Specification& specification) {
    static const std::map<std::string, double> presets = timesOfPresets();
    const auto same = presets.find(stepTimeKey(specification));
    if (same != presets.end()) return same->second;
    return flopPerStep(specification) / assumedFlopPerSecond(specification);
}

}  // namespace

StepTimes::StepTimes(std::span<const RunRecord> runs, Speeds speeds) : speeds_(std::move(speeds)) {
    std::map<std::string, double> flop_by_shape;
    for (const RunRecord& run : runs) {
        if (run.host != speeds_.host) continue;
        const auto seconds = medianStepSeconds(run.metrics);
        if (!seconds) continue;
        const std::string shape = stepTimeKey(run.specification);
        for (auto [times, key] :
             {std::pair{&by_group_, groupKey(run.specification)}, std::pair{&by_shape_, shape}}) {
            const auto [time, is_first] = times->emplace(key, *seconds);
            if (!is_first) time->second = std::min(time->second, *seconds);
        }
        flop_by_shape.try_emplace(shape, flopPerStep(run.specification));
    }
    std::vector<double> rates;
    for (const auto& [shape, flop] : flop_by_shape)
        if (by_shape_.at(shape) > 0) rates.push_back(flop / by_shape_.at(shape));
    if (!rates.empty()) flop_per_second_ = median(std::move(rates));
}

std::optional<double> StepTimes::secondsPerStep(const Specification& specification) const {
    if (const auto time = by_group_.find(groupKey(specification)); time != by_group_.end())
        return time->second;
    const std::string shape = stepTimeKey(specification);
    if (const auto time = by_shape_.find(shape); time != by_shape_.end()) return time->second;
    return speeds_.secondsPerStep(shape);
}

ExpectedTime StepTimes::estimate(const Specification& specification, std::int64_t from) const {
    ExpectedTime time;
    auto step = secondsPerStep(specification);
    if (!step) {
        time.basis = flop_per_second_ ? ExpectedTime::Basis::other_runs : ExpectedTime::Basis::guess;
        step = flop_per_second_ ? flopPerStep(specification) / *flop_per_second_
                                : assumedSecondsPerStep(specification);
    }
    const auto steps = static_cast<double>(std::max<std::int64_t>(0, specification.training.steps - from));
    time.seconds = *step * (steps + evaluationSteps(specification, from));
    return time;
}

ExpectedTime StepTimes::estimateTotal(std::span<const Specification> specifications) const {
    ExpectedTime sum;
    std::map<std::string, ExpectedTime> known;  // seeds do not affect the time
    for (const Specification& specification : specifications) {
        const std::string key = groupKey(specification) + stepTimeKey(specification);
        auto found = known.find(key);
        if (found == known.end()) found = known.emplace(key, estimate(specification)).first;
        sum.seconds += found->second.seconds;
        sum.basis = std::max(sum.basis, found->second.basis);
    }
    return sum;
}

}  // namespace roper
