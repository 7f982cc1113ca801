#include "core/compare/paired.h"

#include <gtest/gtest.h>

#include "core/compare/outcome.h"
#include "tests/support/compared_runs.h"

namespace roper {
namespace {

TEST(Paired, ComparesSeedBySeed) {
    const ComparedRuns runs = fivePairs();
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_EQ(c.differences(), (std::vector<double>{10, 12, 8, 11, 9}));
    ASSERT_TRUE(c.test);
    EXPECT_DOUBLE_EQ(c.test->difference.mean, 10);
    EXPECT_EQ(c.better_b, 5);
    const std::string said = conclusionText(c);
    EXPECT_NE(said.find("Over 5 pairs, RoPER solves 10 more problems than RoPE"), std::string::npos) << said;
    EXPECT_NE(said.find("excludes 0"), std::string::npos) << said;
    EXPECT_NE(said.find("RoPER is better on average"), std::string::npos) << said;
    EXPECT_EQ(toCsv(c).substr(0, 100).find(
                  "data_seed,model_seed,run_a,a,run_b,b,difference\n0,0,rope-s0,100,roper-s0,110,10\n"),
              0U);
}

TEST(Paired, SaysOfHowManyProblems) {
    ComparedRuns runs = fivePairs();
    const auto titleNow = [&] {
        const auto groups = groupRuns(runs.records);
        return comparePaired(runs.records, groups[0], groups[1], Measure::final_correct).title();
    };
    EXPECT_EQ(titleNow(), "problems solved at the end, of 128");
    const auto groups = groupRuns(runs.records);
    EXPECT_EQ(comparePaired(runs.records, groups[0], groups[1], Measure::final_loss).title(),
              "loss on fresh sequences at the end");
    for (EvaluationRow& row : runs.evaluations())
        row.total = 256;
    EXPECT_EQ(titleNow(), "problems solved at the end") << "not all pairs were given as many";
}

TEST(Paired, SaysWhereTwinsWereComputedDifferently) {
    ComparedRuns runs = fivePairs();
    ComputeEnvironment fast;
    fast.precision = "bfloat16";
    fast.threads = 2;
    for (RunRecord& run : runs.records)
        run.computations = {fast};
    const auto compared = [&] {
        const auto groups = groupRuns(runs.records);
        return comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    };
    EXPECT_EQ(compared().pairs_computed_differently, 0);
    EXPECT_EQ(conclusionText(compared()).find("computed differently"), std::string::npos);
    runs.records[1].computations.front().processor = "another";
    runs.records[4].computations.front().threads = 8;
    runs.records[6].computations.clear();  // from an older version: unknown
    // Both twins were resumed on the same other machine.
    ComputeEnvironment elsewhere = fast;
    elsewhere.processor = "another";
    runs.records[8].computations.push_back(elsewhere);
    runs.records[9].computations.insert(runs.records[9].computations.begin(), elsewhere);
    EXPECT_EQ(compared().pairs_computed_differently, 2);
    EXPECT_NE(conclusionText(compared())
                  .find("In 2 of 5 pairs the two runs were computed differently (processor, threads)"),
              std::string::npos)
        << conclusionText(compared());
}

TEST(Paired, PrecisionsAreNotMixed) {
    ComparedRuns runs = fivePairs();
    const auto computed = [](const std::string& precision) {
        ComputeEnvironment computation;
        computation.precision = precision;
        return std::vector<ComputeEnvironment>{computation};
    };
    for (RunRecord& run : runs.records)
        run.computations = computed("bfloat16");
    const auto compared = [&](bool allow_mixed_precisions = false) {
        const auto groups = groupRuns(runs.records);
        return comparePaired(runs.records, groups[0], groups[1], Measure::final_correct, 0.9,
                             allow_mixed_precisions);
    };
    runs.records[0].computations = computed("float32");
    EXPECT_EQ(compared().mixed_precision_pairs, 1);
    EXPECT_EQ(compared().differences().size(), 4U);
    EXPECT_NE(conclusionText(compared())
                  .find("1 pair left out: the two runs were computed in different precisions"),
              std::string::npos)
        << conclusionText(compared());
    EXPECT_EQ(compared(true).differences().size(), 5U);
    // A twin trained in the same precision is preferred, whatever its name.
    const RunRecord& other = runs.records[0];
    RunRecord again = other;
    again.name = "a" + other.name;
    again.computations = computed("bfloat16");
    runs.records.push_back(again);
    EXPECT_EQ(compared().mixed_precision_pairs, 0);
    EXPECT_EQ(compared().pairs.front().run_a, again.name);
    EXPECT_EQ(compared().repeated_seed_runs, 0);
    EXPECT_EQ(compared().other_precision_runs, 1);
    EXPECT_NE(conclusionText(compared()).find("1 run left out: the comparison is in bfloat16"),
              std::string::npos)
        << conclusionText(compared());
}

TEST(Paired, OneOfTwoPrecisionsIsCompared) {
    ComparedRuns runs = fivePairs();
    const auto setPrecision = [](RunRecord& run, const std::string& precision) {
        ComputeEnvironment computation;
        computation.precision = precision;
        run.computations = {computation};
    };
    for (RunRecord& run : runs.records)
        setPrecision(run, "float32");
    // Everything is repeated in bfloat16 except for one pair; one twin in float32 is not finished.
    for (std::size_t i = 0; i < 8; ++i) {
        runs.records.push_back(runs.records[i]);
        runs.records.back().name += "-bf16";
        setPrecision(runs.records.back(), "bfloat16");
    }
    const auto compared = [&] {
        const auto groups = groupRuns(runs.records);
        return comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    };
    EXPECT_EQ(compared().precision, "float32");
    EXPECT_EQ(compared().differences().size(), 5U);
    runs.records[1].state = RunState::paused;
    runs.records[3].state = RunState::paused;
    EXPECT_EQ(compared().precision, "bfloat16");
    EXPECT_EQ(compared().differences().size(), 4U);
    EXPECT_EQ(compared().other_precision_runs, 10);
    EXPECT_EQ(oneRunPerSeed(runs.records, groupRuns(runs.records)[0]).size(), 5U);
}

TEST(Paired, OneProblemIsNotSaidInThePlural) {
    ComparedRuns runs;
    runs.add("rope", 0, 100);
    runs.add("roper", 0, 101);
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_NE(conclusionText(c).find("RoPER solves 1 more problem than RoPE"), std::string::npos);
}

TEST(Paired, ABootstrapOfTwoPairsIsNotShown) {
    ComparedRuns runs;
    for (std::int64_t seed = 0; seed < 2; ++seed) {
        runs.add("rope", seed, 100);
        runs.add("roper", seed, 120 + 3 * seed);
    }
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    ASSERT_TRUE(c.test);
    EXPECT_FALSE(c.test->bootstrap);
    EXPECT_EQ(conclusionText(c).find("bootstrap"), std::string::npos) << conclusionText(c);
    for (std::int64_t seed = 2; seed < 6; ++seed) {
        EXPECT_EQ(conclusionText(comparePaired(runs.records, groupRuns(runs.records)[0],
                                               groupRuns(runs.records)[1], Measure::final_correct))
                      .find("bootstrap"),
                  std::string::npos);
        runs.add("rope", seed, 100);
        runs.add("roper", seed, 120 + 3 * seed);
    }
    const auto six = groupRuns(runs.records);
    const std::string said =
        conclusionText(comparePaired(runs.records, six[0], six[1], Measure::final_correct));
    EXPECT_NE(said.find("bootstrap"), std::string::npos) << said;
    EXPECT_NE(said.find("exact permutation test: p = 0.0312"), std::string::npos) << said;  // 2 of 2⁶
    EXPECT_NE(said.find("in four of five experiments with 3 pairs"), std::string::npos) << said;
}

TEST(Paired, OneSeedProvesNothing) {
    ComparedRuns runs;
    runs.add("rope", 0, 100);
    runs.add("roper", 0, 120);
    runs.add("roper", 1, 120);
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_FALSE(c.test);
    EXPECT_EQ(c.unpaired_b, 1);
    const std::string said = conclusionText(c);
    EXPECT_NE(said.find("One pair says nothing about the spread"), std::string::npos) << said;
    EXPECT_NE(said.find("1 run without a twin"), std::string::npos) << said;
}

TEST(Paired, AnIntervalThatHoldsZeroIsSaidToDecideNothing) {
    ComparedRuns runs;
    for (std::int64_t seed = 0; seed < 4; ++seed) {
        runs.add("rope", seed, 100);
        runs.add("roper", seed, seed % 2 == 0 ? 130 : 90);
    }
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    const std::string said = conclusionText(c);
    EXPECT_NE(said.find("includes 0"), std::string::npos) << said;
    EXPECT_NE(said.find("more) would detect it"), std::string::npos) << said;
}

TEST(Paired, UnfinishedAndFailedRunsAreCountedNotUsed) {
    ComparedRuns runs = fivePairs();
    runs.records[1].state = RunState::running;
    runs.records[2].state = RunState::failed;
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_EQ(c.differences().size(), 3U);
    const std::string said = conclusionText(c);
    EXPECT_NE(said.find("1 pair not finished"), std::string::npos) << said;
    EXPECT_NE(said.find("1 pair without this outcome"), std::string::npos) << said;
    EXPECT_NE(toCsv(c).find("unfinished"), std::string::npos);
}

TEST(Paired, ASeedTrainedTwiceCountsOnce) {
    ComparedRuns runs = fivePairs();
    runs.add("rope", 0, 90).name = "rope-s0-2";
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_EQ(c.pairs.size(), 5U);
    EXPECT_EQ(c.repeated_seed_runs, 1);
    EXPECT_EQ(c.pairs[0].run_a, "rope-s0-2");
    // An unfinished repeat does not replace a finished run.
    runs.records.back().state = RunState::queued;
    EXPECT_EQ(comparePaired(runs.records, groups[0], groups[1], Measure::final_correct).pairs[0].run_a,
              "rope-s0");
}

// Regression: imported runs with unknown seeds were paired with runs of seed 0 and counted as each other's
// repeats.
TEST(Paired, RunsOfUnknownSeedsAreInNoPair) {
    ComparedRuns runs = fivePairs();
    for (const char* name : {"theirs-1", "theirs-2"}) {
        RunRecord& run = runs.add("alibi", 0, 90);
        run.name = name;
        run.specification.about.known = "task.name model.position training.steps";
    }
    const auto groups = groupRuns(runs.records);
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[0].label, "ALiBi, imported");
    EXPECT_EQ(oneRunPerSeed(runs.records, groups[0]).size(), 2U);
    const auto c = comparePaired(runs.records, groups[1], groups[0], Measure::final_correct);
    EXPECT_TRUE(c.pairs.empty());
    EXPECT_EQ(c.unknown_seed_runs, 2);
    EXPECT_EQ(c.unpaired_a, 5);
    EXPECT_EQ(c.unpaired_b + c.repeated_seed_runs, 0);
    const std::string said = conclusionText(c);
    EXPECT_NE(said.find("2 imported runs left out: unknown seeds"), std::string::npos) << said;
    EXPECT_NE(said.find("ALiBi, imported was imported"), std::string::npos) << said;
    runs.records[10].specification.about.known += " training.data_seed training.model_seed";
    EXPECT_EQ(comparePaired(runs.records, groups[1], groups[0], Measure::final_correct).pairs.size(), 1U);
}

TEST(Paired, TheResultIsALineAndASentence) {
    ComparedRuns runs;
    for (const auto& [seed, rope, roper] :
         {std::tuple(0, 40, 100), std::tuple(1, 50, 118), std::tuple(2, 60, 124)}) {
        runs.add("rope", seed, rope);
        runs.add("roper", seed, roper);
    }
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    // Differences of 60, 68 and 64: mean 64, standard error 4/√3, t quantile 4.303.
    EXPECT_EQ(headlineText(c), "RoPER +64 of 128 problems (54.06 to 73.94), 3 pairs");
    EXPECT_EQ(sentenceForPaper(c),
              "Over 3 pairs of runs with equal seeds, RoPER solves 64 more problems than RoPE on average "
              "(problems solved at the end, of 128; 95 % confidence interval 54.06 to 73.94; paired t-test, "
              "t(2) = 27.71, p = 0.0013).");
    ComparedRuns alone;
    alone.add("rope", 0, 40);
    alone.add("roper", 0, 100);
    const auto pair = groupRuns(alone.records);
    const auto one = comparePaired(alone.records, pair[0], pair[1], Measure::final_correct);
    EXPECT_EQ(headlineText(one) + sentenceForPaper(one), "") << "one pair has no test";
}

TEST(Paired, WhereBothGotThereInNoPairItIsSaid) {
    ComparedRuns runs;
    for (const std::string expected : {"In the only pair, the two runs did not both reach the target. The "
                                       "target was never reached by 1 run "
                                       "with RoPE and 0 runs with RoPER",
                                       "In none of 2 pairs did both runs reach the target. The target was "
                                       "never reached by 2 runs with RoPE "
                                       "and 0 runs with RoPER"}) {
        const int seed = static_cast<int>(runs.records.size()) / 2;
        runs.add("rope", seed, 40);
        runs.add("roper", seed, 128);
        const auto groups = groupRuns(runs.records);
        const std::string said =
            conclusionText(comparePaired(runs.records, groups[0], groups[1], Measure::steps_until, 0.9));
        EXPECT_EQ(said.find(expected), 0U) << said;
    }
}

TEST(Paired, RunsThatNeverGotThereAreCountedNotDropped) {
    ComparedRuns runs;
    runs.add("rope", 0, 40);    // never
    runs.add("roper", 0, 128);  // at step 100
    runs.add("rope", 1, 128);
    runs.add("roper", 1, 250);  // reaches 125 at step 50
    runs.add("rope", 2, 10);
    runs.add("roper", 2, 10);  // neither
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::steps_until, 0.9);
    EXPECT_EQ(c.pairs.size(), 3U);
    EXPECT_EQ(c.differences(), (std::vector<double>{-50}));
    EXPECT_EQ(c.better_b, 2);
    EXPECT_EQ(c.ties, 1);
    const std::string said = conclusionText(c);
    EXPECT_NE(said.find("The target was never reached by 2 runs with RoPE and 1 run with RoPER"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("do not show which is faster"), std::string::npos) << said;
    EXPECT_EQ(said.find("better"), std::string::npos) << said;
    EXPECT_NE(toCsv(c).find("not reached"), std::string::npos);
}

class TwinResult : public testing::Test {
  protected:
    /// A run evaluated on 128 problems every 50 steps.
    static std::vector<EvaluationRow> solving(const std::vector<std::int64_t>& correct) {
        std::vector<EvaluationRow> rows;
        for (std::size_t i = 0; i < correct.size(); ++i) {
            EvaluationRow row;
            row.step = 50 * static_cast<std::int64_t>(i + 1);
            row.correct = correct[i];
            row.total = 128;
            rows.push_back(row);
        }
        return rows;
    }

    static std::string sentence(const std::vector<EvaluationRow>& rope,
                                const std::vector<EvaluationRow>& roper, RunState state = RunState::finished,
                                RunState ropers = RunState::finished) {
        Specification s;
        s.training.steps = 200;
        s.evaluation.every = 50;
        return twinSentence({"a", withPosition(s, "rope"), state, "", {}, rope, {}},
                            {"b", withPosition(s, "roper"), ropers, "", {}, roper, {}}, 0.9);
    }
};

TEST_F(TwinResult, SaysHowMuchSoonerTheFirstWas) {
    const auto soon = solving({10, 120, 128, 128}), late = solving({0, 10, 60, 120});
    EXPECT_EQ(sentence(late, soon), "RoPER solved 90 % 100 steps earlier here: by step 100 instead of 200.");
    EXPECT_EQ(sentence(soon, late), "RoPE solved 90 % 100 steps earlier here: by step 100 instead of 200.");
    EXPECT_EQ(sentence(soon, soon), "Both solved 90 % by step 100.");
}

TEST_F(TwinResult, SaysWhoNeverGotThere) {
    const auto soon = solving({10, 120, 128, 128}), not_reached = solving({0, 10, 60, 59});
    EXPECT_EQ(sentence(not_reached, soon),
              "RoPER solved 90 % by step 100 here. RoPE never did: 59 of 128 are solved at step 200.");
    EXPECT_EQ(sentence(soon, not_reached),
              "RoPE solved 90 % by step 100 here. RoPER never did: 59 of 128 are solved at step 200.");
    EXPECT_EQ(sentence(not_reached, not_reached), "Neither solved 90 % of the problems here.");
}

TEST_F(TwinResult, ComparesAtAStepThatBothHaveWhileTheyTrain) {
    const auto ahead = solving({1, 20, 30}), behind = solving({2, 100});
    EXPECT_EQ(sentence(ahead, behind, RunState::running, RunState::running),
              "Step 100 of 200: RoPE solves 20 of 128 problems, RoPER 100 of 128.");
    EXPECT_EQ(sentence(ahead, {}, RunState::running, RunState::queued),
              "Training: the first evaluation comes at step 50.");
    EXPECT_EQ(sentence({}, {}, RunState::queued, RunState::queued), "Both runs are waiting to start.");
    EXPECT_EQ(sentence(ahead, behind, RunState::finished, RunState::stopped),
              "RoPER's run ended before its last step; it can be resumed in the list of runs.");
}

}  // namespace

}  // namespace roper
