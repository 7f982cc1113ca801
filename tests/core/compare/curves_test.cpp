#include "core/compare/curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compared_runs.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

TEST(Curves, MeanAndBandOverRuns) {
    const ComparedRuns runs = fivePairs();
    const auto groups = groupRuns(runs.records);
    const MeanCurve band =
        meanCurve(runs.records, groups[0].runs, Quantity::correct, XAxis::step, Spread::range);
    ASSERT_EQ(band.x, (std::vector<double>{50, 100}));
    EXPECT_NEAR(band.mean[1], 100 * 102.0 / 128, 1e-12);
    EXPECT_NEAR(band.low[1], 100 * 100.0 / 128, 1e-12);
    EXPECT_NEAR(band.high[1], 100 * 104.0 / 128, 1e-12);
    EXPECT_EQ(band.runs[1], 5);
    const MeanCurve error =
        meanCurve(runs.records, groups[0].runs, Quantity::correct, XAxis::step, Spread::standard_error);
    EXPECT_NEAR(error.high[1] - error.mean[1], 100.0 / 128 * std::sqrt(2.5) / std::sqrt(5.0), 1e-12);
    const MeanCurve half =
        meanCurve(runs.records, groups[0].runs, Quantity::training_loss, XAxis::step, Spread::interval, 0.5);
    EXPECT_GE(half.x.front(), 50);
    EXPECT_NEAR(half.mean.back(), 1.0, 0.011);
    const MeanCurve timed =
        meanCurve(runs.records, groups[0].runs, Quantity::correct, XAxis::time, Spread::range);
    EXPECT_NEAR(timed.x.back(), 10, 1e-12);
    EXPECT_NEAR(timed.mean.back(), band.mean[1], 1e-9);
}

TEST(Curves, AreThereOfWhateverIsRecorded) {
    const ComparedRuns runs = fivePairs();
    const RunRecord& run = runs.records.front();
    const auto last = [&](Quantity what) { return runCurve(run, what, XAxis::step).back().second; };
    EXPECT_NEAR(last(Quantity::training_loss), 1.0, 0.011);
    EXPECT_NEAR(last(Quantity::learning_rate), 1e-3, 1e-12);
    EXPECT_NEAR(last(Quantity::gradient_norm), 1, 1e-12);
    EXPECT_NEAR(last(Quantity::perplexity), std::exp(0.01), 1e-12);
    EXPECT_NEAR(last(Quantity::accuracy), 100 * 100.0 / 128, 1e-12);
    EXPECT_TRUE(runCurve(run, Quantity::token_accuracy, XAxis::step).empty());
    EXPECT_TRUE(runCurve(run, Quantity::min_denominator, XAxis::step).empty());
}

/// Imported runs contain only what their file had. Empty cells are not 0 and are not plotted.
TEST(Curves, OfWhatWasNotRecordedAreEmpty) {
    ComparedRuns runs;
    std::vector<MetricsRow> metrics(4);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        metrics[i].step = static_cast<std::int64_t>(i) + 1;
        metrics[i].loss = 1;
    }
    metrics[1].grad_norm = 3;
    std::vector<EvaluationRow> evaluations(1);
    evaluations[0].step = 4;
    evaluations[0].loss = 2;
    RunRecord record;
    record.specification.training.steps = 4;
    const RunRecord& run = runs.add(record, evaluations, metrics);
    for (const Quantity what : {Quantity::training_loss, Quantity::evaluation_loss}) {
        EXPECT_FALSE(runCurve(run, what, XAxis::step).empty());
        EXPECT_TRUE(runCurve(run, what, XAxis::time).empty());
        EXPECT_TRUE(runCurve(run, what, XAxis::tokens).empty());
    }
    EXPECT_TRUE(runCurve(run, Quantity::learning_rate, XAxis::step).empty());
    EXPECT_EQ(runCurve(run, Quantity::gradient_norm, XAxis::step, 4),
              (std::vector<std::pair<double, double>>{{2, 3}}));
    EXPECT_FALSE(medianStepSeconds(run.metrics));
}

TEST(Curves, TokensLieBetweenThoseThatAreRecorded) {
    std::vector<MetricsRow> rows(2);
    EXPECT_FALSE(tokensAt(rows, 5));
    EXPECT_FALSE(tokensAt({}, 5));
    rows[0].step = 10;
    rows[0].tokens = 1000;
    rows[1].step = 20;
    rows[1].tokens = 2000;
    EXPECT_EQ(tokensAt(rows, 5), 500);
    EXPECT_EQ(tokensAt(rows, 10), 1000);
    EXPECT_EQ(tokensAt(rows, 15), 1500);
    EXPECT_EQ(tokensAt(rows, 22), 2200);
}

TEST(Quantities, HaveTheirPlacesAndOneSourceEach) {
    for (std::size_t i = 0; i < quantities().size(); ++i) {
        const QuantityInfo& info = quantities()[i];
        EXPECT_EQ(static_cast<std::size_t>(info.quantity), i) << info.name;
        EXPECT_EQ((info.from_metrics ? 1 : 0) + (info.from_evaluation ? 1 : 0) + (info.from_method ? 1 : 0),
                  1)
            << info.name;
    }
    EXPECT_EQ(commonQuantities().size() + 1, quantities().size());
}

TEST(Quantities, AccuracyIsThatOfTokensWhereTheyAreScored) {
    EvaluationRow row;
    const auto accuracy = infoOf(Quantity::accuracy).from_evaluation;
    EXPECT_FALSE(accuracy(row));
    row.correct = 32;
    row.total = 128;
    EXPECT_EQ(accuracy(row), 25);
    row.tokens_correct = 3;
    row.tokens_scored = 4;
    EXPECT_EQ(accuracy(row), 75);
    EXPECT_EQ(infoOf(Quantity::correct).from_evaluation(row), 25);
}

TEST(Curves, TheWorstRunIsDropped) {
    ComparedRuns runs = fivePairs();
    runs.records[4].state = RunState::running;  // seed 2 of RoPE: dropped first, because it has no outcome
    const auto groups = groupRuns(runs.records);
    const auto rest = withoutWorst(runs.records, groups[0].runs, Measure::final_correct, 0.9);
    EXPECT_EQ(rest.size(), 4U);
    EXPECT_EQ(std::count(rest.begin(), rest.end(), 4U), 0);
    const auto fewer = withoutWorst(runs.records, rest, Measure::final_correct, 0.9);
    EXPECT_EQ(std::count(fewer.begin(), fewer.end(), 0U), 0);  // seed 0 has 100
}
}  // namespace
}  // namespace roper
