#include "core/compare/precision_table.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/compared_runs.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

void add(ComparedRuns& runs, const std::string& position, std::int64_t seed, const std::string& precision,
         double loss) {
    RunRecord record;
    record.name = position + precision + std::to_string(seed);
    record.specification.model.position = position;
    record.specification.training.data_seed = record.specification.training.model_seed = seed;
    record.host = "here";
    record.computations.emplace_back().precision = precision;
    EvaluationRow row;
    row.step = record.specification.training.steps;
    row.loss = loss;
    runs.add(std::move(record), {row});
}

ComparedRuns bothPrecisions() {
    ComparedRuns runs;
    const double differences[] = {0.001, -0.002, 0.0015, -0.001, 0.0005};
    for (std::int64_t seed = 0; seed < 5; ++seed) {
        const double loss = 1 + 0.1 * static_cast<double>(seed);
        add(runs, "rope", seed, "float32", loss);
        add(runs, "rope", seed, "bfloat16", loss + differences[seed]);
        add(runs, "roper", seed, "float32", loss);
        add(runs, "roper", seed, "bfloat16", loss + 0.02 + differences[seed]);
        add(runs, "alibi", seed, "bfloat16", loss);
    }
    return runs;
}

TEST(PrecisionTable, ShowsWhichMethodsAreEquivalentInBfloat16) {
    const auto rows = precisionTable(bothPrecisions().records, Measure::final_loss, 0.01);
    ASSERT_EQ(rows.size(), 2U);  // ALiBi was trained in one precision
    EXPECT_EQ(rows[0].label, "RoPE");
    EXPECT_TRUE(rows[0].isEquivalent());
    EXPECT_NEAR(rows[0].outcome.difference.mean, 0, 1e-12);
    EXPECT_FALSE(rows[1].isEquivalent());
    EXPECT_NEAR(rows[1].outcome.difference.mean, 0.02, 1e-12);
    EXPECT_EQ(rows[1].outcome.comparison.mixed_precision_pairs, 0);
}

TEST(PrecisionTable, ARunThatFailedIsNotLeftOutInSilence) {
    ComparedRuns runs = bothPrecisions();
    ASSERT_TRUE(precisionTable(runs.records, Measure::final_loss, 0.01)[0].isEquivalent());
    runs.records[1].state = RunState::failed;  // RoPE in bfloat16
    const auto rows = precisionTable(runs.records, Measure::final_loss, 0.01);
    EXPECT_EQ(rows[0].omittedPairs(), 1);
    EXPECT_FALSE(rows[0].isEquivalent());
    EXPECT_EQ(tableRows(rows)[1][2], "1");
    expectError(ErrorKind::usage, "steps_until has no value",
                [&] { precisionTable(runs.records, Measure::steps_until, 10); });
}

// Otherwise all pairs of the task prefix would be missing from problems solved, as if their runs had failed.
TEST(PrecisionTable, TasksWithoutTheMeasureAreNotInIt) {
    ComparedRuns runs = bothPrecisions();
    for (RunRecord& run : runs.records)
        run.specification.task.name = "prefix";
    EXPECT_EQ(precisionTable(runs.records, Measure::final_loss, 0.01).size(), 2U);
    EXPECT_TRUE(precisionTable(runs.records, Measure::final_correct, 6).empty());
}

TEST(PrecisionTable, OneSeedShowsNothing) {
    ComparedRuns runs;
    add(runs, "rope", 0, "float32", 1);
    add(runs, "rope", 0, "bfloat16", 1);
    const auto rows = precisionTable(runs.records, Measure::final_loss, 0.01);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_FALSE(rows[0].isEquivalent());
    EXPECT_EQ(tableRows(rows)[1].back(), "not shown to be equivalent");
}

TEST(PrecisionTable, ColumnsFitTheirHeads) {
    const auto rows = precisionTable(bothPrecisions().records, Measure::final_loss, 0.01);
    for (const auto& line : tableRows(rows))
        EXPECT_EQ(line.size(), tableRows(rows).front().size());
    for (const std::string& line : split(trimmed(toCsv(rows)), '\n'))
        EXPECT_EQ(split(line, ',').size(), 14U) << line;
}

}  // namespace
}  // namespace roper
