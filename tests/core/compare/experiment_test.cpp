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
