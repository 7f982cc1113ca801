#include "core/compare/outcome.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/compare/outcome_table.h"
#include "tests/support/compared_runs.h"

namespace roper {
namespace {

TEST(Outcome, ProblemsSolvedLieBetweenNoneAndAll) {
    ComparedRuns runs;
    const RunRecord& run = runs.add("rope", 0, 100);
    EXPECT_EQ(possibleRange(run, Measure::final_correct).low, 0);
    EXPECT_EQ(possibleRange(run, Measure::final_correct).high, *run.evaluations.back().total);
    EXPECT_EQ(possibleRange(run, Measure::steps_until).high, run.specification.training.steps);
    EXPECT_TRUE(std::isinf(possibleRange(run, Measure::final_loss).high));
}

TEST(Outcomes, AreTakenAtTheEndAndOnlyThere) {
    ComparedRuns runs;
    const RunRecord& run = runs.add("rope", 0, 100);
    EXPECT_EQ(outcomeOf(run, Measure::final_correct).value, 100);
    EXPECT_EQ(outcomeOf(run, Measure::final_loss).value, 0.01);
    EXPECT_NEAR(outcomeOf(run, Measure::training_loss).value, 1.045, 1e-9) << "steps 91 to 100";
    EXPECT_EQ(outcomeOf(run, Measure::steps_until, 0.35).value, 50);
    EXPECT_EQ(outcomeOf(run, Measure::final_token_accuracy).kind, Outcome::not_recorded);
    RunRecord open = run;
    open.state = RunState::stopped;
    EXPECT_EQ(outcomeOf(open, Measure::final_correct).kind, Outcome::unfinished);
    EXPECT_EQ(outcomeOf(open, Measure::steps_until, 0.35).kind, Outcome::unfinished);
    EXPECT_EQ(outcomeOf(open, Measure::steps_until, 0.99).kind, Outcome::unfinished);
}

/// Runs of RoPE and RoPER with the same seeds, evaluated at steps 100, 200, … 500 on 100 problems.
class Twins {
  public:
    void add(const std::string& position, std::int64_t seed, const std::vector<std::int64_t>& correct,
             double step_s = 0.02) {
        RunRecord record;
        record.name = position + "-s" + std::to_string(seed);
        record.host = "here";
        Specification& s = record.specification;
        s.model.position = position;
        s.training.data_seed = s.training.model_seed = seed;
        s.training.steps = 500;
        std::vector<EvaluationRow> evaluations;
        for (std::size_t i = 0; i < correct.size(); ++i) {
            EvaluationRow& row = evaluations.emplace_back();
            row.step = 100 * static_cast<std::int64_t>(i + 1);
            row.correct = correct[i];
            row.total = 100;
            row.loss = 1.0 / static_cast<double>(1 + correct[i]);
        }
        std::vector<MetricsRow> metrics;
        for (std::int64_t step = 1; step <= 500; ++step) {
            MetricsRow& row = metrics.emplace_back();
            row.step = step;
            row.time_s = step_s * static_cast<double>(step);
            row.loss = 1;
        }
        runs_.add(std::move(record), std::move(evaluations), std::move(metrics));
    }

    RunGroup group(const std::string& position) const {
        for (const RunGroup& group : groupRuns(records()))
            if (group.specification.model.position == position) return group;
        throw std::logic_error("no such group");
    }
    std::vector<OutcomeRow> table() const { return outcomeTable(records(), group("rope"), group("roper")); }
    Measure leading() const { return defaultComparisonMeasure(records(), group("rope"), group("roper")); }

    std::vector<RunRecord>& records() { return runs_.records; }
    const std::vector<RunRecord>& records() const { return runs_.records; }

  private:
    ComparedRuns runs_;
};

const OutcomeRow* rowOf(const std::vector<OutcomeRow>& rows, Measure measure, double solved_fraction = 0.9) {
    for (const OutcomeRow& row : rows)
        if (row.comparison.measure == measure && row.comparison.solved_fraction == solved_fraction)
            return &row;
    return nullptr;
}

Twins threePairs() {
    Twins twins;
    twins.add("rope", 0, {0, 20, 50, 80, 96});
    twins.add("rope", 1, {0, 10, 40, 92, 97});
    twins.add("rope", 2, {0, 30, 60, 70, 98});
    twins.add("roper", 0, {10, 60, 92, 97, 99}, 0.03);
    twins.add("roper", 1, {0, 50, 95, 98, 98}, 0.03);
    twins.add("roper", 2, {0, 90, 92, 99, 99}, 0.03);
    return twins;
}

TEST(OutcomeTable, HasEveryMeasureWithItsDifference) {
    const auto rows = threePairs().table();
    const OutcomeRow* final_correct = rowOf(rows, Measure::final_correct);
    ASSERT_NE(final_correct, nullptr);
    EXPECT_NEAR(final_correct->a.mean, 97, 1e-12);
    EXPECT_NEAR(final_correct->comparison.test->difference.mean, (3 + 1 + 1) / 3.0, 1e-12);
    EXPECT_NEAR(*final_correct->p, final_correct->comparison.test->p, 1e-15);
    // RoPE solves half at steps 300, 400 and 300, RoPER always at step 200.
    const OutcomeRow* half = rowOf(rows, Measure::steps_until, 0.5);
    ASSERT_NE(half, nullptr);
    EXPECT_EQ(half->title(), "steps until 50 % are solved");
    EXPECT_NEAR(half->a.mean, 1000 / 3.0, 1e-9);
    EXPECT_NEAR(half->b.mean, 200, 1e-12);
    EXPECT_NEAR(rowOf(rows, Measure::steps_until)->b.mean, (300 + 300 + 200) / 3.0, 1e-9);
    EXPECT_NEAR(rowOf(rows, Measure::mean_correct)->a.mean, (246 + 239 + 258) / 15.0, 1e-9);
    EXPECT_EQ(rowOf(rows, Measure::final_token_accuracy), nullptr);
}

TEST(OutcomeTable, LeavesOutTimesOfSteps) {
    Twins twins = threePairs();
    EXPECT_EQ(rowOf(twins.table(), Measure::step_time), nullptr);
    // It can be compared explicitly, but only within pairs trained on the same machine.
    const RunGroup a = twins.group("rope"), b = twins.group("roper");
    EXPECT_NEAR(comparePaired(twins.records(), a, b, Measure::step_time).test->difference.mean, 10, 1e-9);
    for (std::size_t i = 0; i < 3; ++i)
        twins.records()[i].host = "there";
    EXPECT_TRUE(comparePaired(twins.records(), a, b, Measure::step_time).differences().empty());
}

TEST(OutcomeTable, CorrectsForTheMeasuresThatWereTested) {
    const auto rows = threePairs().table();
    std::vector<double> p;
    for (const OutcomeRow& row : rows) {
        EXPECT_EQ(row.p.has_value(), row.holm_p.has_value()) << row.title();
        if (row.p) p.push_back(*row.p);
    }
    ASSERT_GE(p.size(), 3U);
    const auto minimum = std::min_element(p.begin(), p.end());
    for (const OutcomeRow& row : rows) {
        if (row.p != *minimum) continue;
        EXPECT_NEAR(*row.holm_p, std::min(1.0, static_cast<double>(p.size()) * *minimum), 1e-12);
    }
}

TEST(OutcomeTable, TheMeasureThatWasNamedBeforeIsTestedAlone) {
    Twins twins = threePairs();
    const auto unnamed = twins.table();
    for (RunRecord& run : twins.records())
        run.specification.about.measure = "mean_correct";
    const auto rows = twins.table();
    ASSERT_EQ(rows.size(), unnamed.size());
    EXPECT_EQ(rows.front().comparison.measure, Measure::mean_correct);
    EXPECT_EQ(rows.front().title(), "problems solved, mean of all evaluations, of 100 (primary measure)");
    EXPECT_EQ(rows.front().holm_p, rows.front().p);
    std::vector<double> others;
    for (const OutcomeRow& row : rows)
        if (row.p && !row.is_preregistered) others.push_back(*row.p);
    ASSERT_EQ(others.size(), static_cast<std::size_t>(std::count_if(unnamed.begin(), unnamed.end(),
                                                                    [](const auto& row) { return row.p; })) -
                                 1);
    const auto minimum = std::min_element(others.begin(), others.end());
    for (const OutcomeRow& row : rows)
        if (!row.is_preregistered && row.p == *minimum) {
            EXPECT_NEAR(*row.holm_p, std::min(1.0, static_cast<double>(others.size()) * *minimum), 1e-12);
        }
    EXPECT_EQ(twins.leading(), Measure::mean_correct);
    // If some runs were trained before the measure was chosen, it does not count as chosen in advance.
    twins.records().front().specification.about.measure = "auto";
    EXPECT_FALSE(twins.table().front().is_preregistered);
    twins.records().front().specification.about.measure = "mean_correct";
    EXPECT_TRUE(twins.table().front().is_preregistered);
    twins.records().back().specification.about.measure = "final_loss";
    EXPECT_FALSE(twins.table().front().is_preregistered);
}

TEST(OutcomeTable, EveryMeasureCanBeNamedByAPreset) {
    Specification s;
    for (const MeasureInfo& info : measures()) {
        if (info.measure == Measure::step_time) continue;
        findField(specificationFields(), "about.measure").set(s, info.name);
        EXPECT_EQ(s.about.measure, info.name);
    }
}

TEST(OutcomeTable, ARunThatNeverGetsThereIsCountedAndNotAveraged) {
    Twins twins = threePairs();
    twins.add("rope", 3, {0, 0, 10, 20, 40});
    twins.add("roper", 3, {0, 0, 92, 95, 99});
    const auto rows = twins.table();
    const OutcomeRow* most = rowOf(rows, Measure::steps_until);
    ASSERT_NE(most, nullptr);
    EXPECT_TRUE(most->is_sign_test);
    EXPECT_NEAR(*most->p, 2 * std::pow(0.5, 4), 1e-12);  // all four pairs
    EXPECT_EQ(most->a.count, 3U);
    const OutcomeCells cells = formatCells(*most);
    EXPECT_EQ(cells.a, "466.7 (1 never)");
    EXPECT_EQ(cells.b, "275");
    EXPECT_EQ(cells.difference, "−200 steps");
    EXPECT_EQ(cells.interval, "–");
    EXPECT_EQ(cells.p, "0.125 (sign test)");
}

TEST(OutcomeTable, AsCsvHasALineForEachMeasure) {
    const auto rows = threePairs().table();
    const std::string csv = toCsv(rows);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(rows.size() + 1));
    EXPECT_NE(csv.find("\nfinal_correct,,problems,3,97,"), std::string::npos) << csv;
    EXPECT_NE(csv.find("\nsteps_until,0.5,steps,3,"), std::string::npos) << csv;
    const std::vector<std::string> lines = split(trimmed(csv), '\n');
    for (const std::string& line : lines)
        EXPECT_EQ(split(line, ',').size(), split(lines.front(), ',').size()) << line;
}

TEST(OutcomeTable, NamesGroupsByWhatTheyDoNotShare) {
    PairedComparison c;
    using Labels = std::pair<std::string, std::string>;
    c.label_a = "Addition, half a minute: RoPE", c.label_b = "Addition, half a minute: RoPER";
    EXPECT_EQ(differingLabels(c), Labels("RoPE", "RoPER"));
    c.label_b = "Copy: RoPER";
    EXPECT_EQ(differingLabels(c), Labels(c.label_a, c.label_b));
    c.label_a = "RoPE", c.label_b = "RoPER, width 64";
    EXPECT_EQ(differingLabels(c), Labels(c.label_a, c.label_b));
}

TEST(LeadingMeasure, IsTimeOnceAllSolveNearlyAll) {
    Twins twins = threePairs();
    EXPECT_EQ(twins.leading(), Measure::steps_until);
    twins.add("rope", 3, {0, 0, 10, 20, 94});
    EXPECT_EQ(twins.leading(), Measure::final_correct);
    twins.records().back().state = RunState::stopped;  // not finished, so its last value is not final
    EXPECT_EQ(twins.leading(), Measure::steps_until);
    for (std::size_t i = 0; i < 3; ++i)
        twins.records()[i].state = RunState::running;  // RoPE's final values are not known yet
    EXPECT_EQ(twins.leading(), Measure::final_correct);
    for (RunRecord& run : twins.records())
        run.state = RunState::running;
    EXPECT_EQ(twins.leading(), Measure::final_correct);
}

TEST(LeadingMeasure, OfTextsIsTheLoss) {
    Twins twins = threePairs();
    for (RunRecord& run : twins.records())
        run.specification.task.name = "text";
    EXPECT_EQ(twins.leading(), Measure::final_loss);
}

}  // namespace

}  // namespace roper
