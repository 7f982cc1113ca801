#include "core/compare/expected_time.h"

#include <algorithm>
#include <utility>

#include "core/base/control_group.h"
#include "core/compare/grouping.h"
#include "core/compare/statistics.h"
#include "core/specification/cost.h"

namespace roper {
namespace {

// Assumed rates if nothing was timed: half of what two cores with AVX-512 and bfloat16 reach on small models,
// and a tenth of a data-centre GPU's rate.
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

}  // namespace

StepTimes::StepTimes(std::span<const RunRecord> runs, Speeds speeds) : speeds_(std::move(speeds)) {
    std::map<std::string, double> flop_of_shape;
    for (const RunRecord& run : runs) {
        if (run.host != speeds_.host) continue;
        const auto seconds = stepSeconds(run.metrics);
        if (!seconds) continue;
        const std::string shape = shapeKey(run.specification);
        for (auto [times, key] :
             {std::pair{&of_group_, groupKey(run.specification)}, std::pair{&of_shape_, shape}}) {
            const auto [time, is_first] = times->emplace(key, *seconds);
            if (!is_first) time->second = std::min(time->second, *seconds);
        }
        // Computed once per shape: there may be a thousand runs, and an answer's length is found by trial.
        if (!flop_of_shape.contains(shape)) flop_of_shape[shape] = costOf(run.specification).flop_a_step;
    }
    std::vector<double> rates;
    for (const auto& [shape, flop] : flop_of_shape)
        if (of_shape_.at(shape) > 0) rates.push_back(flop / of_shape_.at(shape));
    if (!rates.empty()) flop_per_second_ = median(std::move(rates));
}

std::optional<double> StepTimes::secondsAStep(const Specification& specification) const {
    if (const auto time = of_group_.find(groupKey(specification)); time != of_group_.end())
        return time->second;
    const std::string shape = shapeKey(specification);
    if (const auto time = of_shape_.find(shape); time != of_shape_.end()) return time->second;
    return speeds_.secondsAStep(shape);
}

ExpectedTime StepTimes::of(const Specification& specification, std::int64_t from) const {
    ExpectedTime time;
    auto step = secondsAStep(specification);
    if (!step) {
        time.basis = flop_per_second_ ? ExpectedTime::Basis::other_runs : ExpectedTime::Basis::guess;
        step = costOf(specification).flop_a_step /
               flop_per_second_.value_or(assumedFlopPerSecond(specification));
    }
    const auto steps = static_cast<double>(std::max<std::int64_t>(0, specification.training.steps - from));
    time.seconds = *step * (steps + evaluationSteps(specification, from));
    return time;
}

ExpectedTime StepTimes::ofAll(std::span<const Specification> specifications) const {
    ExpectedTime sum;
    std::map<std::string, ExpectedTime> known;  // seeds do not affect the time
    for (const Specification& specification : specifications) {
        const std::string key = groupKey(specification) + shapeKey(specification);
        auto found = known.find(key);
        if (found == known.end()) found = known.emplace(key, of(specification)).first;
        sum.seconds += found->second.seconds;
        sum.basis = std::max(sum.basis, found->second.basis);
    }
    return sum;
}

}  // namespace roper
