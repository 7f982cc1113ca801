#include "core/compare/outcome.h"

#include <gtest/gtest.h>

#include "tests/support/compared_runs.h"

namespace roper {
namespace {

TEST(Outcome, ProblemsSolvedLieBetweenNoneAndAll) {
    ComparedRuns runs;
    const RunRecord& run = runs.add("rope", 0, 100);
    EXPECT_EQ(possibleRange(run, Measure::final_correct).minimum, 0);
    EXPECT_EQ(possibleRange(run, Measure::final_correct).maximum, *run.evaluations.back().of);
    EXPECT_EQ(possibleRange(run, Measure::steps_until).maximum, run.specification.training.steps);
    EXPECT_TRUE(std::isinf(possibleRange(run, Measure::final_loss).maximum));
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
}  // namespace
}  // namespace roper
