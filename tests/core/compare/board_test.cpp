#include "core/compare/board.h"

#include <gtest/gtest.h>

#include "core/specification/presets.h"
#include "tests/support/compared_runs.h"

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
    speeds.seconds_per_step[shapeKey(roper)] = 2;
    EXPECT_EQ(makeBoard(runs.records, speeds)[1].cells[1].remaining_seconds, 2.0 * 10 * 5000);
}
}  // namespace
}  // namespace roper
