#include "core/compare/board.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/method_table.h"
#include "core/compare/precision_table.h"
#include "core/specification/presets.h"
#include "tests/support/compared_runs.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

TEST(Board, HoldsTheSourcesNumbersAndBothPrintsOfTheThirdRow) {
    const auto board = makeBoard({}, Speeds{});
    ASSERT_EQ(board.size(), 3U);
    EXPECT_EQ(board[0].cells[0].target, 124.33);
    EXPECT_EQ(board[1].cells[1].target, 96.11);
    EXPECT_EQ(board[2].cells[0].target, 0.3269);
    EXPECT_EQ(board[2].cells[1].alternative_target, 0.3205);
    for (const BoardRow& row : board) {
        EXPECT_EQ(missingRuns(row).size(), 20U);
        EXPECT_FALSE(row.cells[0].remaining_seconds);
    }
    EXPECT_EQ(missingRuns(board[0])[0].model.position, "rope");
    EXPECT_EQ(missingRuns(board[0])[1].model.position, "roper");
    EXPECT_EQ(missingRuns(board[0])[1].training.data_seed, 0);
}

TEST(Board, CountsTheRunsThatAgreeWithThePreset) {
    ComparedRuns runs;
    const Specification paper = loadPreset("index-paper").specification;
    const auto add = [&](std::int64_t seed, std::int64_t correct, RunState state) -> RunRecord& {
        RunRecord& run = runs.add("rope", seed, correct, state);
        run.specification = paper;
        run.specification.model.position = "rope";
        run.specification.training.data_seed = run.specification.training.model_seed = seed;
        return run;
    };
    add(0, 60, RunState::finished);
    add(1, 80, RunState::finished);
    add(2, 100, RunState::finished);
    add(3, 0, RunState::running);
    add(4, 0, RunState::failed);
    add(5, 100, RunState::finished).specification.model.width = 64;
    Speeds speeds{"here", {}};
    const auto row = makeBoard(runs.records, speeds)[1];
    const BoardCell& cell = row.cells[0];
    EXPECT_EQ(cell.finished.size(), 3U);
    EXPECT_EQ(cell.unfinished.size(), 1U);
    EXPECT_EQ(cell.failed.size(), 1U);  // not retried, since it would fail again
    EXPECT_EQ(cell.missing, (std::vector<std::int64_t>{5, 6, 7, 8, 9}));
    EXPECT_EQ(cell.mean, 80);  // the worst run is dropped only once all ten are finished
    ASSERT_TRUE(cell.seconds_per_step);
    EXPECT_NEAR(*cell.seconds_per_step, 0.1, 1e-9);
    EXPECT_NEAR(*cell.remaining_seconds, 0.1 * (5 * 5000 + 4900), 1e-6);
    EXPECT_FALSE(row.cells[1].seconds_per_step);
    Specification roper = paper;
    roper.model.position = "roper";
    speeds.seconds_per_step[stepTimeKey(roper)] = 2;
    EXPECT_EQ(makeBoard(runs.records, speeds)[1].cells[1].remaining_seconds, 2.0 * 10 * 5000);
}

/// Adds a run with one evaluation.
void add(ComparedRuns& runs, const std::string& preset, const std::string& position, std::int64_t seed,
         std::int64_t correct, const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    RunRecord record;
    Specification& s = record.specification;
    s.about.title = preset;
    s.model.position = position;
    for (const auto& [key, value] : settings)
        findField(specificationFields(), key).set(s, value);
    s.training.data_seed = s.training.model_seed = seed;
    record.name = preset + position + std::to_string(runs.records.size());
    record.host = "here";
    EvaluationRow row;
    row.step = s.training.steps;
    row.correct = correct;
    row.total = 100;
    runs.add(std::move(record), {row});
}

ComparedRuns threeMethods() {
    ComparedRuns runs;
    const std::int64_t rope[] = {50, 52, 51, 55}, roper[] = {80, 84, 79, 90}, alibi[] = {51, 50, 53, 54};
    for (std::int64_t seed = 0; seed < 4; ++seed) {
        const auto i = static_cast<std::size_t>(seed);
        add(runs, "Index", "rope", seed, rope[i]);
        add(runs, "Index", "roper", seed, roper[i]);
        add(runs, "Index", "alibi", seed, alibi[i]);
        add(runs, "Copy", "rope", seed, 10 * seed);
        add(runs, "Copy", "rope", seed, 10 * seed + 1, {{"model.rotary_fraction", "0.5"}});
    }
    return runs;
}

TEST(MethodTable, HasALineForEachMethodAndColumnsForEachPreset) {
    const MethodTable table = methodTable(threeMethods().records, "RoPE");
    EXPECT_EQ(table.methods,
              (std::vector<std::string>{"RoPE", "ALiBi", "RoPE, rotary fraction 0.5", "RoPER"}));
    ASSERT_EQ(table.columns.size(), 2U);
    EXPECT_EQ(table.columns[0].preset, "Copy");
    EXPECT_FALSE(table.columns[0].cells[1]);  // ALiBi was not trained
    const auto& roper = table.columns[1].cells[3];
    ASSERT_TRUE(roper);
    EXPECT_NEAR(roper->runs.mean, 83.25, 1e-12);
    EXPECT_NEAR(roper->versus_reference->difference.mean, 83.25 - 52, 1e-12);
    EXPECT_FALSE(table.columns[1].cells[0]->versus_reference);
    const auto lines = tableRows(table);
    EXPECT_EQ(lines.front()[3], "Index: problems solved at the end, of 100");
    EXPECT_EQ(lines[1][3], "52 ± 2.2");
    EXPECT_EQ(lines[1][4], "–");
    EXPECT_TRUE(lines[4][4].starts_with("+31.25 problems (")) << lines[4][4];
}

TEST(MethodTable, ASeedThatWasTrainedTwiceCountsOnce) {
    ComparedRuns runs = threeMethods();
    add(runs, "Index", "rope", 3, 100);  // a repeat; the last by name counts
    const MethodTable table = methodTable(runs.records, "RoPE");
    EXPECT_EQ(table.columns[1].cells[0]->runs.count, 4U);
    EXPECT_NEAR(table.columns[1].cells[0]->runs.mean, (50 + 52 + 51 + 100) / 4.0, 1e-12);
    EXPECT_EQ(table.columns[1].cells[3]->versus_reference->difference.count, 4U);
}

TEST(MethodTable, ATitleCannotBreakTheMarkdown) {
    ComparedRuns runs;
    add(runs, "a | b\nc", "rope", 0, 1);
    EXPECT_TRUE(toMarkdown(methodTable(runs.records, "RoPE")).starts_with("| method | a \\| b c: "));
}

TEST(MethodTable, CorrectsForTheNumberOfMethods) {
    const MethodTable table = methodTable(threeMethods().records, "RoPE");
    const OutcomeRow &roper = *table.columns[1].cells[3]->versus_reference,
                     &alibi = *table.columns[1].cells[1]->versus_reference;
    EXPECT_LT(*roper.p, *alibi.p);
    EXPECT_NEAR(*roper.holm_p, 2 * *roper.p, 1e-12);
    EXPECT_NEAR(*alibi.holm_p, std::max(*alibi.p, *roper.holm_p), 1e-12);
}

TEST(MethodTable, IsWrittenAsMarkdownAndAsCsv) {
    const MethodTable table = methodTable(threeMethods().records, "RoPE");
    const auto lines = split(trimmed(toMarkdown(table)), '\n');
    ASSERT_EQ(lines.size(), 2 + table.methods.size());
    EXPECT_EQ(lines[1], "|---|---|---|---|---|");
    const std::string csv = toCsv(table);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 + 3);  // cells without runs have no line
    EXPECT_NE(csv.find("\n\"Copy\",final_correct,,\"RoPE, rotary fraction 0.5\",4,16,"), std::string::npos)
        << csv;
}

TEST(MethodTable, NeedsTheReferenceInEveryPreset) {
    expectError(ErrorKind::usage, "the groups are: RoPE; RoPE, rotary fraction 0.5",
                [&] { methodTable(threeMethods().records, "ALiBi"); });
}

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
