#include "core/compare/run_filter.h"

#include <gtest/gtest.h>

#include "tests/support/compared_runs.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

TEST(Filter, WordsAndComparisons) {
    ComparedRuns runs = fivePairs();
    runs.records[0].labels = {"Wide models", {"thesis", "good"}, "warm-up was longer"};
    const auto count = [&](const std::string& text) {
        const RunFilter filter(text);
        return std::count_if(runs.records.begin(), runs.records.end(),
                             [&](const RunRecord& run) { return filter.matches(run); });
    };
    EXPECT_EQ(count(""), 10);
    EXPECT_EQ(count("RoPER"), 5);
    EXPECT_EQ(count("position=rope"), 5);
    EXPECT_EQ(count("position!=rope seed<2"), 2);
    EXPECT_EQ(count("correct>=110"), 5);
    EXPECT_EQ(count("accuracy<80"), 3);
    EXPECT_EQ(count("solved>=110"), 5);
    EXPECT_EQ(count("last>=110"), 5);
    // The best evaluation need not be the last.
    auto falling = runs.records[1].evaluations;
    std::vector<EvaluationRow> rows(falling.begin(), falling.end());
    rows.back().correct = 3;
    runs.records[1].evaluations = rows;
    EXPECT_EQ(count("last<50"), 1);
    EXPECT_EQ(count("best<50"), 0);
    runs.records[1].evaluations = falling;
    EXPECT_EQ(count("training.length=129 state=finished loss<=1"), 10);
    EXPECT_EQ(count("seed<"), 10);  // an incomplete filter, as while typing
    EXPECT_EQ(count("tag=Thesis"), 1);
    EXPECT_EQ(count("tag!=thesis"), 9);
    EXPECT_EQ(count("wide longer"), 1);
    // An unknown setting of an imported run is neither equal to nor different from anything.
    runs.records[1].specification.about.known = "training.steps model.position";
    runs.records[1].specification.about.title = "imported from f.csv";
    EXPECT_EQ(count("batch=16"), 9);
    EXPECT_EQ(count("batch!=16"), 0);
    EXPECT_EQ(count("seed>=0"), 9);
    EXPECT_EQ(count("position=roper"), 5);
    EXPECT_EQ(count("addition"), 9);
    expectError(ErrorKind::usage, "did you mean width", [] { RunFilter("widht>3"); });
    expectError(ErrorKind::usage, "\"abc\" in \"width>=abc\" is not a number",
                [] { RunFilter("width>=abc"); });
    expectError(ErrorKind::usage, "unknown operator", [] { RunFilter("width=<3"); });
}
}  // namespace
}  // namespace roper
