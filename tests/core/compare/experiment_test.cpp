#include "core/compare/experiment.h"

#include <gtest/gtest.h>

#include "core/specification/presets.h"

namespace roper {
namespace {

Specification small() {
    return loadPreset("addition-small").specification;
}

TEST(Experiment, IsNamedByItsPresetAndWhatDiffersFromIt) {
    EXPECT_EQ(settingsTitle(small()), "Addition, small");
    Specification changed = small();
    changed.model.width = 64;
    changed.training.steps = 500;
    EXPECT_EQ(settingsTitle(changed), "Addition, small, width 64, steps 500");
    EXPECT_EQ(settingsTitle(withPosition(changed, "roper")), settingsTitle(changed));
    changed.training.data_seed = changed.training.model_seed = 7;
    EXPECT_EQ(settingsTitle(changed), "Addition, small, width 64, steps 500");
}

TEST(Experiment, WithoutAPresetIsNamedByItsTask) {
    Specification s;
    EXPECT_EQ(settingsTitle(s), s.task.name);
    s.model.heads = 2;
    EXPECT_EQ(settingsTitle(s), s.task.name + ", heads 2");
}

TEST(Experiment, BesideOthersIsNamedByWhatTellsItApart) {
    const auto with = [](auto... changes) {
        Specification s = small();
        s.training.steps = 100;
        (changes(s), ...);
        return s;
    };
    const auto few = [](Specification& s) { s.evaluation.problems = 32; };
    const auto slow = [](Specification& s) { s.training.learning_rate = 1e-4; };
    const auto narrow = [](Specification& s) { s.model.width = 64; };
    EXPECT_EQ(distinguishingTitles({with(few), with(few, slow), with(narrow), with(few, narrow)}),
              (std::vector<std::string>{
                  "Addition, small, problems 32", "Addition, small, learning rate 1e-04, problems 32",
                  "Addition, small, width 64", "Addition, small, width 64, problems 32"}))
        << "all have 100 steps; few are slow";
    EXPECT_EQ(distinguishingTitles({with(few)}),
              (std::vector<std::string>{"Addition, small, steps 100, problems 32"}));
    EXPECT_TRUE(distinguishingTitles({}).empty());
}

TEST(Experiment, HoldsTwinsAndSeeds) {
    Specification other = withPosition(small(), "t5");
    other.training.data_seed = other.training.model_seed = 3;
    EXPECT_EQ(experimentKey(small(), {}), experimentKey(other, {}));
    Specification wider = small();
    wider.model.width *= 2;
    EXPECT_NE(experimentKey(small(), {}), experimentKey(wider, {}));
    EXPECT_EQ(experimentKey(small(), "mine"), experimentKey(wider, "mine"));
    EXPECT_NE(experimentKey(small(), "mine"), experimentKey(small(), "yours"));
}

TEST(Experiment, StartedTwiceInAMinuteHasTwoNames) {
    const std::time_t now = 1764000000;
    const std::string first = newExperimentName(small(), {}, now);
    EXPECT_EQ(first.substr(0, 22), "Addition, small, 2025-");
    const std::string second = newExperimentName(small(), {first}, now);
    EXPECT_EQ(second, first + " (2)");
    EXPECT_EQ(newExperimentName(small(), {first, second}, now), first + " (3)");
}

}  // namespace
}  // namespace roper
