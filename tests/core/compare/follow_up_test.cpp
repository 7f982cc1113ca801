#include "core/compare/follow_up.h"

#include <gtest/gtest.h>

#include "tests/support/compared_runs.h"

namespace roper {
namespace {

std::vector<FollowUp> followUpsOf(const ComparedRuns& runs, Measure measure) {
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], measure, 0.9);
    return followUps(runs.records, groups[0], groups[1], c);
}

TEST(FollowUps, AsManyPairsAsTheSentenceSays) {
    ComparedRuns runs;
    const std::vector<std::int64_t> differences = {12, 3, -1, 25, 6};
    for (std::size_t seed = 0; seed < differences.size(); ++seed) {
        runs.add("rope", static_cast<std::int64_t>(seed), 90);
        runs.add("roper", static_cast<std::int64_t>(seed), 90 + differences[seed]);
    }
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    ASSERT_TRUE(c.test && c.test->interval.contains(0) && c.pairs_needed);
    const auto next = followUpsOf(runs, Measure::final_correct);
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].kind, FollowUp::Kind::more_pairs);
    const auto more = static_cast<std::size_t>(*c.pairs_needed) - 5;
    EXPECT_NE(conclusionText(c).find("(" + std::to_string(more) + " more)"), std::string::npos);
    ASSERT_EQ(next[0].runs.size(), 2 * more);
    // New seeds, the same for both methods.
    for (std::size_t i = 0; i < next[0].runs.size(); ++i) {
        EXPECT_EQ(next[0].runs[i].training.data_seed, static_cast<std::int64_t>(5 + i / 2));
        EXPECT_EQ(next[0].runs[i].training.model_seed, static_cast<std::int64_t>(5 + i / 2));
        EXPECT_EQ(next[0].runs[i].model.position, i % 2 == 0 ? "rope" : "roper");
    }
}

/// More runs cannot help if nothing records the measure.
TEST(FollowUps, NothingIsOfferedForAMeasureThatIsNotRecorded) {
    ComparedRuns runs;
    for (const char* position : {"rope", "roper"})
        runs.add(position, 0, std::nullopt);
    runs.add("rope", 1, std::nullopt, RunState::running);
    EXPECT_TRUE(followUpsOf(runs, Measure::final_correct).empty());
    // It must be recorded by both groups, not just one, before pairs are suggested again.
    runs.add("rope", 2, 90);
    EXPECT_TRUE(followUpsOf(runs, Measure::final_correct).empty());
    runs.add("roper", 2, 100);
    EXPECT_FALSE(followUpsOf(runs, Measure::final_correct).empty());
    // Unfinished runs may still record it.
    ComparedRuns begun;
    for (const char* position : {"rope", "roper"})
        begun.add(position, 0, std::nullopt, RunState::running);
    EXPECT_FALSE(followUpsOf(begun, Measure::final_correct).empty());
}

TEST(FollowUps, NoneOfMetricsThatWereImportedAsNoMethodOfOurs) {
    ComparedRuns runs;
    runs.add("rope", 0, 90);
    runs.add("roper", 1, 100).specification.about.method = kUnknownMethod;
    EXPECT_TRUE(followUpsOf(runs, Measure::final_correct).empty());
    // A twin would have to be trained with unknown settings.
    runs.records[1].specification.about = {};
    EXPECT_FALSE(followUpsOf(runs, Measure::final_correct).empty());
    runs.records[1].specification.about.known = "model.position training.data_seed training.model_seed";
    EXPECT_TRUE(followUpsOf(runs, Measure::final_correct).empty());
}

TEST(FollowUps, MissingTwinsComeFirst) {
    ComparedRuns runs;
    runs.add("rope", 0, 90);
    runs.add("roper", 0, 100);
    runs.add("rope", 3, 90);
    runs.add("roper", 1, 90);
    const auto next = followUpsOf(runs, Measure::final_correct);
    ASSERT_EQ(next.size(), 2U);
    EXPECT_EQ(next[0].kind, FollowUp::Kind::missing_twins);
    ASSERT_EQ(next[0].runs.size(), 2U);
    EXPECT_EQ(next[0].runs[0].model.position, "roper");
    EXPECT_EQ(next[0].runs[0].training.data_seed, 3);
    EXPECT_EQ(next[0].runs[1].model.position, "rope");
    EXPECT_EQ(next[0].runs[1].training.data_seed, 1);
    // Three pairs exist; three more make six.
    ASSERT_EQ(next[1].runs.size(), 6U);
    EXPECT_EQ(next[1].runs[0].training.data_seed, 2);
    EXPECT_EQ(next[1].runs[2].training.data_seed, 4);
    EXPECT_EQ(next[1].runs[4].training.data_seed, 5);
}

// A comparison does not mix precisions, so pairs of different precisions are useless.
TEST(FollowUps, TwinsHaveOnePrecision) {
    ComparedRuns runs;
    const auto add = [&](const char* position, std::int64_t seed, const char* precision) {
        runs.add(position, seed, 90).specification.device.precision = precision;
    };
    add("rope", 0, "fp32");
    add("roper", 1, "bf16");
    const auto next = followUpsOf(runs, Measure::final_correct);
    ASSERT_EQ(next.size(), 2U);
    ASSERT_EQ(next[0].runs.size(), 2U);
    EXPECT_EQ(next[0].runs[0].model.position, "roper");
    EXPECT_EQ(next[0].runs[0].device.precision, "fp32");
    EXPECT_EQ(next[0].runs[1].model.position, "rope");
    EXPECT_EQ(next[0].runs[1].device.precision, "bf16");
    ASSERT_GE(next[1].runs.size(), 2U);
    EXPECT_EQ(next[1].runs[0].device.precision, next[1].runs[1].device.precision);
}

TEST(FollowUps, ArePairsInThePrecisionThatIsCompared) {
    ComparedRuns runs;
    const auto add = [&](const char* position, std::int64_t seed, const char* setting,
                         const char* precision) {
        RunRecord& run = runs.add(position, seed, 90 + (position == std::string("roper") ? seed % 3 : 0));
        run.specification.device.precision = setting;
        run.computations.emplace_back().precision = precision;
    };
    add("rope", 0, "fp32", "float32");  // has no twin and is the first of its group
    for (std::int64_t seed = 1; seed < 5; ++seed) {
        add("rope", seed, "bf16", "bfloat16");
        add("roper", seed, "bf16", "bfloat16");
    }
    add("roper", 1, "fp32", "float32");  // would make the comparison one of mixed precisions
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    ASSERT_EQ(c.precision, "bfloat16");
    const auto next = followUpsOf(runs, Measure::final_correct);
    ASSERT_EQ(next.size(), 1U) << "the twin of the run in float32 would be left out";
    EXPECT_EQ(next[0].kind, FollowUp::Kind::more_pairs);
    for (const Specification& run : next[0].runs)
        EXPECT_EQ(run.device.precision, "bf16");
}

TEST(FollowUps, NothingWhereItIsSettledOrIsBeingTrained) {
    ComparedRuns settled;
    for (std::int64_t seed = 0; seed < 6; ++seed) {
        settled.add("rope", seed, 40 + seed);
        settled.add("roper", seed, 116 + 3 * seed);
    }
    EXPECT_TRUE(followUpsOf(settled, Measure::final_correct).empty());
    EXPECT_TRUE(followUpsOf(settled, Measure::steps_until).empty());
    // Five of five give p = 0.06; a sixth pair decides.
    ComparedRuns five = settled;
    five.records.resize(10);
    for (const Measure measure : {Measure::final_correct, Measure::steps_until}) {
        const auto one = followUpsOf(five, measure);
        ASSERT_EQ(one.size(), 1U);
        EXPECT_EQ(one[0].runs.size(), 2U);
    }
    ComparedRuns waiting = settled;
    for (std::size_t i = 2; i < waiting.records.size(); ++i)
        waiting.records[i].state = RunState::queued;
    EXPECT_TRUE(followUpsOf(waiting, Measure::final_correct).empty());
}
}  // namespace
}  // namespace roper
