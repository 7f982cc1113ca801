#include "core/compare/expected_time.h"

#include <gtest/gtest.h>

#include <list>

#include "core/specification/cost.h"
#include "core/specification/presets.h"

namespace roper {
namespace {

constexpr double kStep_s = 0.02;

Specification trained() {
    Specification s;
    s.training.steps = 1000;
    s.evaluation.every = 0;
    return s;
}

/// Rows of a run on the host "here" whose steps took `kStep_s` each, after a slow start.
class Timed {
  public:
    explicit Timed(const Specification& specification) {
        for (std::int64_t step = 1; step <= 100; ++step) {
            MetricsRow row;
            row.step = step;
            row.time_s = 5 + kStep_s * static_cast<double>(step);
            metrics_.push_back(row);
        }
        records.push_back({"run", specification, RunState::finished, "here", metrics_, {}});
    }
    std::vector<RunRecord> records;

  private:
    std::vector<MetricsRow> metrics_;
};

TEST(ExpectedTime, OfTheSameSettingsIsTheirOwn) {
    const Timed timed(trained());
    Specification other_seed = trained();
    other_seed.training.data_seed = 7;
    const ExpectedTime time = StepTimes(timed.records, Speeds{"here", {}}).estimate(other_seed);
    EXPECT_EQ(time.basis, ExpectedTime::Basis::same_settings);
    EXPECT_NEAR(time.seconds, 1000 * kStep_s, 1e-9);
    EXPECT_NEAR(StepTimes(timed.records, Speeds{"here", {}}).estimate(other_seed, 900).seconds, 100 * kStep_s,
                1e-9);
}

// RoPER has been timed, RoPE has not: their steps take nearly the same time.
TEST(ExpectedTime, OfOtherSettingsGoesByTheOperationsPerSecond) {
    const Timed timed(trained());
    Specification twice = trained();
    twice.training.batch *= 2;
    const ExpectedTime time = StepTimes(timed.records, Speeds{"here", {}}).estimate(twice);
    EXPECT_EQ(time.basis, ExpectedTime::Basis::other_runs);
    EXPECT_NEAR(time.seconds, 1000 * kStep_s * costOf(twice).flop_per_step / costOf(trained()).flop_per_step,
                1e-9);
}

TEST(ExpectedTime, OfAnotherMachinesRunsIsAGuess) {
    const Timed timed(trained());
    const ExpectedTime time = StepTimes(timed.records, Speeds{"there", {}}).estimate(trained());
    EXPECT_EQ(time.basis, ExpectedTime::Basis::guess);
    EXPECT_GT(time.seconds, 0);
}

TEST(ExpectedTime, OfAPresetIsWhatThePresetSaysUntilAStepWasTimed) {
    Specification preset = loadPreset("copy-quick").specification;
    preset = withPosition(preset, "rope");
    const double seconds = 60 * preset.about.minutes;
    ExpectedTime time = StepTimes({}, Speeds{"here", {}}).estimate(preset);
    EXPECT_EQ(time.basis, ExpectedTime::Basis::guess);
    EXPECT_NEAR(time.seconds, seconds, 1e-9);
    preset.training.steps *= 2;
    EXPECT_NEAR(StepTimes({}, Speeds{"here", {}}).estimate(preset).seconds, 2 * seconds, 1e-9);
    time = StepTimes({}, Speeds{"here", {{stepTimeKey(preset), 0.5}}}).estimate(preset);
    EXPECT_EQ(time.basis, ExpectedTime::Basis::same_settings);
}

TEST(ExpectedTime, AMeasuredSpeedCountsWithoutARun) {
    const Speeds speeds{"here", {{stepTimeKey(trained()), 0.5}}};
    const ExpectedTime time = StepTimes({}, speeds).estimate(trained());
    EXPECT_EQ(time.basis, ExpectedTime::Basis::same_settings);
    EXPECT_NEAR(time.seconds, 500, 1e-9);
}

TEST(ExpectedTime, EvaluationsAreCounted) {
    const Timed timed(trained());
    Specification evaluated = trained();
    evaluated.evaluation.every = 250;  // four evaluations
    evaluated.evaluation.problems = 3 * evaluated.training.batch;
    const double without = StepTimes(timed.records, Speeds{"here", {}}).estimate(trained()).seconds;
    const double with = StepTimes(timed.records, Speeds{"here", {}}).estimate(evaluated).seconds;
    EXPECT_NEAR(with / without, 1 + 4 * 3 / 1000.0, 1e-9);
}

TEST(ExpectedTime, OfSeveralIsTheSumAndAsSureAsTheLeastSure) {
    const Timed timed(trained());
    Specification twice = trained();
    twice.training.batch *= 2;
    const std::vector<Specification> all{trained(), trained(), twice};
    const ExpectedTime sum = StepTimes(timed.records, Speeds{"here", {}}).estimateTotal(all);
    EXPECT_EQ(sum.basis, ExpectedTime::Basis::other_runs);
    EXPECT_GT(sum.seconds, 3 * 1000 * kStep_s);
}

}  // namespace
}  // namespace roper
