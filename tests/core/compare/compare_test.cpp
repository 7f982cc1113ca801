#include <gtest/gtest.h>

#include <cmath>
#include <list>

#include "core/compare/board.h"
#include "core/compare/curves.h"
#include "core/compare/experiment.h"
#include "core/compare/follow_up.h"
#include "core/compare/paired.h"
#include "core/compare/run_filter.h"
#include "core/specification/presets.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

/// Records with rows of their own.
class Runs {
  public:
    RunRecord& add(const std::string& position, std::int64_t seed, std::optional<std::int64_t> correct,
                   RunState state = RunState::finished) {
        Rows& rows = rows_.emplace_back();
        Specification s;
        s.model.position = position;
        s.training.data_seed = s.training.model_seed = seed;
        s.training.steps = 100;
        for (const std::int64_t step : {50, 100}) {
            EvaluationRow row;
            row.step = step;
            row.time_s = static_cast<double>(step) / 10;
            if (correct) row.correct = step == 50 ? *correct / 2 : *correct;
            row.of = 128;
            row.loss = 1.0 / static_cast<double>(step);
            rows.evaluations.push_back(row);
        }
        for (std::int64_t step = 1; step <= 100; ++step)
            rows.metrics.push_back({step, static_cast<double>(step) / 10, step * 2048,
                                    2.0 - 0.01 * static_cast<double>(step), 1e-3, 1, 1});
        records.push_back(
            {position + "-s" + std::to_string(seed), s, state, "here", rows.metrics, rows.evaluations});
        return records.back();
    }
    std::vector<EvaluationRow>& evaluations() { return rows_.back().evaluations; }

    std::vector<RunRecord> records;

  private:
    struct Rows {
        std::vector<MetricsRow> metrics;
        std::vector<EvaluationRow> evaluations;
    };
    std::list<Rows> rows_;
};

/// Five pairs with differences 10, 12, 8, 11, 9.
Runs fivePairs() {
    Runs runs;
    for (std::int64_t seed = 0; seed < 5; ++seed) {
        runs.add("rope", seed, 100 + seed);
        runs.add("roper", seed,
                 100 + seed + std::vector<std::int64_t>{10, 12, 8, 11, 9}[static_cast<std::size_t>(seed)]);
    }
    return runs;
}

// A method's own fields are named only where they are unusual.
TEST(Grouping, LabelsNameWhatIsUnusualOfAMethod) {
    std::vector<RunRecord> runs(4);
    for (RunRecord& run : runs)
        run.specification.model.position = "rope";
    runs[1].specification.model.frequencies = "trained";
    runs[2].specification.model.attention = "linear_cosine";
    runs[3].specification.model.position = "alibi";
    std::vector<std::string> labels;
    for (const RunGroup& group : groupRuns(runs))
        labels.push_back(group.label);
    EXPECT_EQ(labels, (std::vector<std::string>{"ALiBi", "RoPE", "RoPE, frequencies trained",
                                                "RoPE, linear attention, 1 + cosine"}));
}

TEST(Grouping, ByAnythingButTheSeed) {
    Runs runs = fivePairs();
    runs.add("rope", 5, 1).specification.model.width = 64;
    runs.add("rope", 6, 1).specification.device.threads = 3;
    runs.records[0].specification.about.title = "another title";
    const auto groups = groupRuns(runs.records);
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[0].label, "RoPE, width 128");
    EXPECT_EQ(groups[0].runs.size(), 6U);
    EXPECT_EQ(groups[1].label, "RoPE, width 64");
    EXPECT_EQ(groups[2].label, "RoPER, width 128");
}

TEST(Grouping, ATwinDiffersInNothingButTheMethod) {
    Runs runs = fivePairs();
    for (std::size_t i = 0; i < runs.records.size(); ++i) {
        const auto twin = twinOf(runs.records, i);
        ASSERT_TRUE(twin) << runs.records[i].name;
        EXPECT_NE(runs.records[*twin].specification.model.position,
                  runs.records[i].specification.model.position);
        EXPECT_EQ(runs.records[*twin].specification.training.data_seed,
                  runs.records[i].specification.training.data_seed);
    }
    const auto first = *twinOf(runs.records, 0);
    runs.records[first].specification.model.width *= 2;
    EXPECT_FALSE(twinOf(runs.records, 0));
    runs.records[first].specification.model.width /= 2;
    // Trained again, but not to its end: the finished one stays the twin.
    runs.add("roper", 0, 50, RunState::stopped).name = "z";
    EXPECT_EQ(twinOf(runs.records, 0), first);
    runs.add("none", 0, 50);
    EXPECT_FALSE(twinOf(runs.records, runs.records.size() - 1));
}

TEST(Grouping, LabelsNameAsLittleAsTellsApart) {
    Runs runs;
    runs.add("rope", 0, 1);
    auto& prefix = runs.add("rope", 0, 1).specification;
    prefix.task.name = "prefix";
    prefix.training.length = 193;
    const auto groups = groupRuns(runs.records);
    EXPECT_EQ(groups[0].label, "addition, RoPE");
    EXPECT_EQ(groups[1].label, "prefix, RoPE");
}

TEST(Grouping, RunsOfSeveralPresetsAreNamedByThem) {
    Runs runs;
    for (const char* preset : {"addition-demo", "addition-quick"})
        for (const char* method : {"rope", "roper"})
            runs.add(method, 0, 1).specification = withPosition(loadPreset(preset).specification, method);
    Specification narrow = runs.records[0].specification;
    narrow.model.width = 32;
    runs.add("rope", 0, 1).specification = narrow;
    std::vector<std::string> labels;
    for (const RunGroup& group : groupRuns(runs.records))
        labels.push_back(group.label);
    const std::string demo = loadPreset("addition-demo").specification.about.title,
                      quick = loadPreset("addition-quick").specification.about.title;
    std::vector<std::string> expected = {demo + ": RoPE", demo + ": RoPER", demo + ", width 32: RoPE",
                                         quick + ": RoPE", quick + ": RoPER"};
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(labels, expected);
    // Of one preset alone, what differs is enough.
    runs.records = {runs.records[0], runs.records[4]};
    EXPECT_EQ(groupRuns(runs.records)[0].label, "RoPE, width 32");
}

// Experiments that somebody named, a sweep's file among them, name their groups; one alone does not.
TEST(Grouping, GroupsOfNamedExperimentsAreNamedByThem) {
    Runs runs;
    const auto labels = [&] {
        std::vector<std::string> all;
        for (const RunGroup& group : groupRuns(runs.records))
            all.push_back(group.label);
        return all;
    };
    for (const int width : {32, 64})
        for (const char* method : {"rope", "roper"}) {
            RunRecord& run = runs.add(method, 0, 1);
            run.specification.model.width = width;
            run.labels.experiment = width == 32 ? "Sweep narrow" : "Sweep wide";
        }
    EXPECT_EQ(labels(), (std::vector<std::string>{"Sweep narrow: RoPE", "Sweep narrow: RoPER",
                                                  "Sweep wide: RoPE", "Sweep wide: RoPER"}));
    // The same settings in another experiment, too: no name holds for the group.
    RunRecord again = runs.records[0];
    again.name += "-again";
    again.labels.experiment = "Sweep wide";
    runs.records.push_back(again);
    EXPECT_EQ(labels().front(), "RoPE, width 32");
    runs.records.pop_back();
    // A name that the window made says less than the settings.
    for (RunRecord& run : runs.records)
        run.labels.experiment = newExperimentName(run.specification, {}, 0);
    EXPECT_EQ(labels().front(), "RoPE, width 32");
    for (RunRecord& run : runs.records)
        run.labels.experiment = "one alone";
    EXPECT_EQ(labels().front(), "RoPE, width 32");
}

TEST(Paired, ComparesSeedBySeed) {
    const Runs runs = fivePairs();
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_EQ(c.differences(), (std::vector<double>{10, 12, 8, 11, 9}));
    ASSERT_TRUE(c.test);
    EXPECT_DOUBLE_EQ(c.test->difference.mean, 10);
    EXPECT_EQ(c.better_b, 5);
    const std::string said = conclusionOf(c);
    EXPECT_NE(said.find("Over 5 pairs RoPER has 10 problems more than RoPE"), std::string::npos) << said;
    EXPECT_NE(said.find("leaves out 0"), std::string::npos) << said;
    EXPECT_NE(said.find("RoPER is better on average"), std::string::npos) << said;
    EXPECT_EQ(csvOf(c).substr(0, 100).find(
                  "data_seed,model_seed,run_a,a,run_b,b,difference\n0,0,rope-s0,100,roper-s0,110,10\n"),
              0U);
}

TEST(Paired, SaysOfHowManyProblems) {
    Runs runs = fivePairs();
    const auto titleNow = [&] {
        const auto groups = groupRuns(runs.records);
        return comparePaired(runs.records, groups[0], groups[1], Measure::final_correct).title();
    };
    EXPECT_EQ(titleNow(), "problems solved at the end, of 128");
    const auto groups = groupRuns(runs.records);
    EXPECT_EQ(comparePaired(runs.records, groups[0], groups[1], Measure::final_loss).title(),
              "loss on fresh sequences at the end");
    for (EvaluationRow& row : runs.evaluations())
        row.of = 256;
    EXPECT_EQ(titleNow(), "problems solved at the end") << "not all pairs were given as many";
}

TEST(Paired, SaysWhereTwinsWereComputedDifferently) {
    Runs runs = fivePairs();
    Computation fast;
    fast.precision = "bfloat16";
    fast.threads = 2;
    for (RunRecord& run : runs.records)
        run.computations = {fast};
    const auto compared = [&] {
        const auto groups = groupRuns(runs.records);
        return comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    };
    EXPECT_EQ(compared().computed_differently, 0);
    EXPECT_EQ(conclusionOf(compared()).find("computed alike"), std::string::npos);
    runs.records[1].computations.front().processor = "another";
    runs.records[4].computations.front().threads = 8;
    runs.records[6].computations.clear();  // of an older version: not known
    // Resumed on another machine, as its twin was: the same two.
    Computation elsewhere = fast;
    elsewhere.processor = "another";
    runs.records[8].computations.push_back(elsewhere);
    runs.records[9].computations.insert(runs.records[9].computations.begin(), elsewhere);
    EXPECT_EQ(compared().computed_differently, 2);
    EXPECT_NE(conclusionOf(compared())
                  .find("In 2 of 5 pairs the two runs were not computed alike (processor, threads)"),
              std::string::npos)
        << conclusionOf(compared());
}

TEST(Paired, PrecisionsAreNotMixed) {
    Runs runs = fivePairs();
    const auto computed = [](const std::string& precision) {
        Computation computation;
        computation.precision = precision;
        return std::vector<Computation>{computation};
    };
    for (RunRecord& run : runs.records)
        run.computations = computed("bfloat16");
    const auto compared = [&](bool mixes_precisions = false) {
        const auto groups = groupRuns(runs.records);
        return comparePaired(runs.records, groups[0], groups[1], Measure::final_correct, 0.9,
                             mixes_precisions);
    };
    runs.records[0].computations = computed("float32");
    EXPECT_EQ(compared().mixed_precision, 1);
    EXPECT_EQ(compared().differences().size(), 4U);
    EXPECT_NE(
        conclusionOf(compared()).find("1 pair left out: the two runs were computed in different precisions"),
        std::string::npos)
        << conclusionOf(compared());
    EXPECT_EQ(compared(true).differences().size(), 5U);
    // Trained in its twin's precision, too, that one is taken, whatever its name.
    const RunRecord& other = runs.records[0];
    RunRecord again = other;
    again.name = "a" + other.name;
    again.computations = computed("bfloat16");
    runs.records.push_back(again);
    EXPECT_EQ(compared().mixed_precision, 0);
    EXPECT_EQ(compared().pairs.front().run_a, again.name);
    EXPECT_EQ(compared().repeated, 0);
    EXPECT_EQ(compared().other_precision, 1);
    EXPECT_NE(conclusionOf(compared()).find("1 run left out: what is compared is bfloat16"),
              std::string::npos)
        << conclusionOf(compared());
}

TEST(Paired, OneOfTwoPrecisionsIsCompared) {
    Runs runs = fivePairs();
    const auto setPrecision = [](RunRecord& run, const std::string& precision) {
        Computation computation;
        computation.precision = precision;
        run.computations = {computation};
    };
    for (RunRecord& run : runs.records)
        setPrecision(run, "float32");
    // All of it in bfloat16, too, but for one pair; one twin in float32 is not finished.
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
    EXPECT_EQ(compared().other_precision, 10);
    EXPECT_EQ(runsThatCount(runs.records, groupRuns(runs.records)[0]).size(), 5U);
}

TEST(Paired, OneProblemIsNotSaidInThePlural) {
    Runs runs;
    runs.add("rope", 0, 100);
    runs.add("roper", 0, 101);
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_NE(conclusionOf(c).find("RoPER has 1 problem more than RoPE"), std::string::npos);
}

TEST(Paired, ABootstrapOfTwoPairsIsNotShown) {
    Runs runs;
    for (std::int64_t seed = 0; seed < 2; ++seed) {
        runs.add("rope", seed, 100);
        runs.add("roper", seed, 120 + 3 * seed);
    }
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    ASSERT_TRUE(c.test);
    EXPECT_FALSE(c.test->bootstrap);
    EXPECT_EQ(conclusionOf(c).find("bootstrap"), std::string::npos) << conclusionOf(c);
    for (std::int64_t seed = 2; seed < 6; ++seed) {
        EXPECT_EQ(conclusionOf(comparePaired(runs.records, groupRuns(runs.records)[0],
                                             groupRuns(runs.records)[1], Measure::final_correct))
                      .find("bootstrap"),
                  std::string::npos);
        runs.add("rope", seed, 100);
        runs.add("roper", seed, 120 + 3 * seed);
    }
    const auto six = groupRuns(runs.records);
    const std::string said =
        conclusionOf(comparePaired(runs.records, six[0], six[1], Measure::final_correct));
    EXPECT_NE(said.find("bootstrap"), std::string::npos) << said;
    EXPECT_NE(said.find("exact permutation test: p = 0.0312"), std::string::npos) << said;  // 2 of 2⁶
    EXPECT_NE(said.find("in four of five experiments of 3 pairs"), std::string::npos) << said;
}

TEST(Outcome, ProblemsSolvedLieBetweenNoneAndAll) {
    Runs runs;
    const RunRecord& run = runs.add("rope", 0, 100);
    EXPECT_EQ(possibleRange(run, Measure::final_correct).least, 0);
    EXPECT_EQ(possibleRange(run, Measure::final_correct).greatest, *run.evaluations.back().of);
    EXPECT_EQ(possibleRange(run, Measure::steps_until).greatest, run.specification.training.steps);
    EXPECT_TRUE(std::isinf(possibleRange(run, Measure::final_loss).greatest));
}

TEST(Paired, OneSeedProvesNothing) {
    Runs runs;
    runs.add("rope", 0, 100);
    runs.add("roper", 0, 120);
    runs.add("roper", 1, 120);
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_FALSE(c.test);
    EXPECT_EQ(c.alone_b, 1);
    const std::string said = conclusionOf(c);
    EXPECT_NE(said.find("One pair says nothing about the spread"), std::string::npos) << said;
    EXPECT_NE(said.find("1 run without a twin"), std::string::npos) << said;
}

TEST(Paired, AnIntervalThatHoldsZeroIsSaidToDecideNothing) {
    Runs runs;
    for (std::int64_t seed = 0; seed < 4; ++seed) {
        runs.add("rope", seed, 100);
        runs.add("roper", seed, seed % 2 == 0 ? 130 : 90);
    }
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    const std::string said = conclusionOf(c);
    EXPECT_NE(said.find("holds 0"), std::string::npos) << said;
    EXPECT_NE(said.find("more) would show it"), std::string::npos) << said;
}

TEST(Paired, UnfinishedAndFailedRunsAreCountedNotUsed) {
    Runs runs = fivePairs();
    runs.records[1].state = RunState::running;
    runs.records[2].state = RunState::failed;
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_EQ(c.differences().size(), 3U);
    const std::string said = conclusionOf(c);
    EXPECT_NE(said.find("1 pair not finished"), std::string::npos) << said;
    EXPECT_NE(said.find("1 pair without this outcome"), std::string::npos) << said;
    EXPECT_NE(csvOf(c).find("unfinished"), std::string::npos);
}

TEST(Paired, ASeedTrainedTwiceCountsOnce) {
    Runs runs = fivePairs();
    runs.add("rope", 0, 90).name = "rope-s0-2";
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    EXPECT_EQ(c.pairs.size(), 5U);
    EXPECT_EQ(c.repeated, 1);
    EXPECT_EQ(c.pairs[0].run_a, "rope-s0-2");
    // One that is still open does not hide one that is finished.
    runs.records.back().state = RunState::queued;
    EXPECT_EQ(comparePaired(runs.records, groups[0], groups[1], Measure::final_correct).pairs[0].run_a,
              "rope-s0");
}

TEST(Paired, WhereBothGotThereInNoPairItIsSaid) {
    Runs runs;
    for (int seed = 0; seed < 2; ++seed) {
        runs.add("rope", seed, 40);
        runs.add("roper", seed, 128);
    }
    const auto groups = groupRuns(runs.records);
    const std::string said =
        conclusionOf(comparePaired(runs.records, groups[0], groups[1], Measure::steps_until, 0.9));
    EXPECT_EQ(said.find("In none of 2 pairs did both get there. Never got there: 2 of RoPE, 0 of RoPER"), 0U)
        << said;
}

TEST(Paired, RunsThatNeverGotThereAreCountedNotDropped) {
    Runs runs;
    runs.add("rope", 0, 40);    // never
    runs.add("roper", 0, 128);  // at step 100
    runs.add("rope", 1, 128);
    runs.add("roper", 1, 250);  // 125 at step 50 already
    runs.add("rope", 2, 10);
    runs.add("roper", 2, 10);  // neither
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::steps_until, 0.9);
    EXPECT_EQ(c.pairs.size(), 3U);
    EXPECT_EQ(c.differences(), (std::vector<double>{-50}));
    EXPECT_EQ(c.better_b, 2);
    EXPECT_EQ(c.ties, 1);
    const std::string said = conclusionOf(c);
    EXPECT_NE(said.find("Never got there: 2 of RoPE, 1 of RoPER"), std::string::npos) << said;
    EXPECT_NE(said.find("do not tell which is sooner"), std::string::npos) << said;
    EXPECT_EQ(said.find("better"), std::string::npos) << said;
    EXPECT_NE(csvOf(c).find("never"), std::string::npos);
}

std::vector<FollowUp> followUpsOf(const Runs& runs, Measure measure) {
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], measure, 0.9);
    return followUps(runs.records, groups[0], groups[1], c);
}

TEST(FollowUps, AsManyPairsAsTheSentenceSays) {
    Runs runs;
    const std::vector<std::int64_t> differences = {12, 3, -1, 25, 6};
    for (std::size_t seed = 0; seed < differences.size(); ++seed) {
        runs.add("rope", static_cast<std::int64_t>(seed), 90);
        runs.add("roper", static_cast<std::int64_t>(seed), 90 + differences[seed]);
    }
    const auto groups = groupRuns(runs.records);
    const auto c = comparePaired(runs.records, groups[0], groups[1], Measure::final_correct);
    ASSERT_TRUE(c.test && c.test->interval.holds(0) && c.needed);
    const auto next = followUpsOf(runs, Measure::final_correct);
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].kind, FollowUp::Kind::more_pairs);
    const auto more = static_cast<std::size_t>(*c.needed) - 5;
    EXPECT_NE(conclusionOf(c).find("(" + std::to_string(more) + " more)"), std::string::npos);
    ASSERT_EQ(next[0].runs.size(), 2 * more);
    // Seeds that nobody has had, the same for both methods.
    for (std::size_t i = 0; i < next[0].runs.size(); ++i) {
        EXPECT_EQ(next[0].runs[i].training.data_seed, static_cast<std::int64_t>(5 + i / 2));
        EXPECT_EQ(next[0].runs[i].training.model_seed, static_cast<std::int64_t>(5 + i / 2));
        EXPECT_EQ(next[0].runs[i].model.position, i % 2 == 0 ? "rope" : "roper");
    }
}

TEST(FollowUps, MissingTwinsComeFirst) {
    Runs runs;
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
    // With them there are three pairs; three more make six.
    ASSERT_EQ(next[1].runs.size(), 6U);
    EXPECT_EQ(next[1].runs[0].training.data_seed, 2);
    EXPECT_EQ(next[1].runs[2].training.data_seed, 4);
    EXPECT_EQ(next[1].runs[4].training.data_seed, 5);
}

TEST(FollowUps, NothingWhereItIsSettledOrIsBeingTrained) {
    Runs settled;
    for (std::int64_t seed = 0; seed < 6; ++seed) {
        settled.add("rope", seed, 40 + seed);
        settled.add("roper", seed, 116 + 3 * seed);
    }
    EXPECT_TRUE(followUpsOf(settled, Measure::final_correct).empty());
    EXPECT_TRUE(followUpsOf(settled, Measure::steps_until).empty());
    // Five of five are p = 0.06; a sixth settles it.
    Runs five = settled;
    five.records.resize(10);
    for (const Measure measure : {Measure::final_correct, Measure::steps_until}) {
        const auto one = followUpsOf(five, measure);
        ASSERT_EQ(one.size(), 1U);
        EXPECT_EQ(one[0].runs.size(), 2U);
    }
    Runs waiting = settled;
    for (std::size_t i = 2; i < waiting.records.size(); ++i)
        waiting.records[i].state = RunState::queued;
    EXPECT_TRUE(followUpsOf(waiting, Measure::final_correct).empty());
}

TEST(Outcomes, AreTakenAtTheEndAndOnlyThere) {
    Runs runs;
    const RunRecord& run = runs.add("rope", 0, 100);
    EXPECT_EQ(outcomeOf(run, Measure::final_correct).value, 100);
    EXPECT_EQ(outcomeOf(run, Measure::final_loss).value, 0.01);
    EXPECT_NEAR(outcomeOf(run, Measure::training_loss).value, 1.045, 1e-9) << "steps 91 to 100";
    EXPECT_EQ(outcomeOf(run, Measure::steps_until, 0.35).value, 50);
    EXPECT_EQ(outcomeOf(run, Measure::final_token_accuracy).kind, Outcome::missing);
    RunRecord open = run;
    open.state = RunState::stopped;
    EXPECT_EQ(outcomeOf(open, Measure::final_correct).kind, Outcome::unfinished);
    EXPECT_EQ(outcomeOf(open, Measure::steps_until, 0.35).kind, Outcome::unfinished);
    EXPECT_EQ(outcomeOf(open, Measure::steps_until, 0.99).kind, Outcome::unfinished);
}

TEST(Curves, MeanAndBandOverRuns) {
    const Runs runs = fivePairs();
    const auto groups = groupRuns(runs.records);
    const Band band = bandOf(runs.records, groups[0].runs, Quantity::correct, XAxis::step, Spread::range);
    ASSERT_EQ(band.x, (std::vector<double>{50, 100}));
    EXPECT_NEAR(band.mean[1], 100 * 102.0 / 128, 1e-12);
    EXPECT_NEAR(band.low[1], 100 * 100.0 / 128, 1e-12);
    EXPECT_NEAR(band.high[1], 100 * 104.0 / 128, 1e-12);
    EXPECT_EQ(band.runs[1], 5);
    const Band error =
        bandOf(runs.records, groups[0].runs, Quantity::correct, XAxis::step, Spread::standard_error);
    EXPECT_NEAR(error.high[1] - error.mean[1], 100.0 / 128 * std::sqrt(2.5) / std::sqrt(5.0), 1e-12);
    const Band half =
        bandOf(runs.records, groups[0].runs, Quantity::training_loss, XAxis::step, Spread::interval, 0.5);
    EXPECT_GE(half.x.front(), 50);
    EXPECT_NEAR(half.mean.back(), 1.0, 0.011);
    const Band timed = bandOf(runs.records, groups[0].runs, Quantity::correct, XAxis::time, Spread::range);
    EXPECT_NEAR(timed.x.back(), 10, 1e-12);
    EXPECT_NEAR(timed.mean.back(), band.mean[1], 1e-9);
}

TEST(Curves, AreThereOfWhateverIsRecorded) {
    const Runs runs = fivePairs();
    const RunRecord& run = runs.records.front();
    const auto last = [&](Quantity what) { return curveOf(run, what, XAxis::step).back().second; };
    EXPECT_NEAR(last(Quantity::training_loss), 1.0, 0.011);
    EXPECT_NEAR(last(Quantity::learning_rate), 1e-3, 1e-12);
    EXPECT_NEAR(last(Quantity::gradient_norm), 1, 1e-12);
    EXPECT_NEAR(last(Quantity::perplexity), std::exp(0.01), 1e-12);
    EXPECT_NEAR(last(Quantity::accuracy), 100 * 100.0 / 128, 1e-12);
    EXPECT_TRUE(curveOf(run, Quantity::token_accuracy, XAxis::step).empty());
    EXPECT_TRUE(curveOf(run, Quantity::least_denominator, XAxis::step).empty());
}

TEST(Quantities, HaveTheirPlacesAndOneSourceEach) {
    for (std::size_t i = 0; i < quantities().size(); ++i) {
        const QuantityInfo& info = quantities()[i];
        EXPECT_EQ(static_cast<std::size_t>(info.quantity), i) << info.name;
        EXPECT_EQ((info.of_metrics ? 1 : 0) + (info.of_evaluation ? 1 : 0) + (info.of_method ? 1 : 0), 1)
            << info.name;
        EXPECT_EQ(quantityOf(info.name), info.quantity);
    }
    EXPECT_EQ(commonQuantities().size() + 1, quantities().size());
    expectError(ErrorKind::usage, "did you mean gradient_norm?", [] { quantityOf("gradientnorm"); });
}

TEST(Quantities, AccuracyIsThatOfTokensWhereTheyAreScored) {
    EvaluationRow row;
    const auto accuracy = infoOf(Quantity::accuracy).of_evaluation;
    EXPECT_FALSE(accuracy(row));
    row.correct = 32;
    row.of = 128;
    EXPECT_EQ(accuracy(row), 25);
    row.tokens_correct = 3;
    row.tokens_scored = 4;
    EXPECT_EQ(accuracy(row), 75);
    EXPECT_EQ(infoOf(Quantity::correct).of_evaluation(row), 25);
}

TEST(Curves, TheWorstRunIsDropped) {
    Runs runs = fivePairs();
    runs.records[4].state = RunState::running;  // seed 2 of RoPE: no outcome, so it goes first
    const auto groups = groupRuns(runs.records);
    const auto rest = withoutWorst(runs.records, groups[0].runs, Measure::final_correct, 0.9);
    EXPECT_EQ(rest.size(), 4U);
    EXPECT_EQ(std::count(rest.begin(), rest.end(), 4U), 0);
    const auto fewer = withoutWorst(runs.records, rest, Measure::final_correct, 0.9);
    EXPECT_EQ(std::count(fewer.begin(), fewer.end(), 0U), 0);  // seed 0 has 100
}

TEST(Filter, WordsAndComparisons) {
    Runs runs = fivePairs();
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
    // The best evaluation need not be the last one.
    auto falling = runs.records[1].evaluations;
    std::vector<EvaluationRow> rows(falling.begin(), falling.end());
    rows.back().correct = 3;
    runs.records[1].evaluations = rows;
    EXPECT_EQ(count("last<50"), 1);
    EXPECT_EQ(count("best<50"), 0);
    runs.records[1].evaluations = falling;
    EXPECT_EQ(count("training.length=129 state=finished loss<=1"), 10);
    EXPECT_EQ(count("seed<"), 10);  // still being typed
    EXPECT_EQ(count("tag=Thesis"), 1);
    EXPECT_EQ(count("tag!=thesis"), 9);
    EXPECT_EQ(count("wide longer"), 1);
    expectError(ErrorKind::usage, "did you mean width", [] { RunFilter("widht>3"); });
    expectError(ErrorKind::usage, "\"abc\" in \"width>=abc\" is not a number",
                [] { RunFilter("width>=abc"); });
    expectError(ErrorKind::usage, "unknown operator", [] { RunFilter("width=<3"); });
}

TEST(Board, HoldsTheSourcesNumbersAndBothPrintsOfTheThirdRow) {
    const auto board = makeBoard({}, Speeds{});
    ASSERT_EQ(board.size(), 3U);
    EXPECT_EQ(board[0].cells[0].target, 124.33);
    EXPECT_EQ(board[1].cells[1].target, 96.11);
    EXPECT_EQ(board[2].cells[0].target, 0.3269);
    EXPECT_EQ(board[2].cells[1].other_target, 0.3205);
    for (const BoardRow& row : board) {
        EXPECT_EQ(missingRuns(row).size(), 20U);
        EXPECT_FALSE(row.cells[0].seconds_left);
    }
    EXPECT_EQ(missingRuns(board[0])[0].model.position, "rope");
    EXPECT_EQ(missingRuns(board[0])[1].model.position, "roper");
    EXPECT_EQ(missingRuns(board[0])[1].training.data_seed, 0);
}

TEST(Board, CountsTheRunsThatAgreeWithThePreset) {
    Runs runs;
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
    EXPECT_EQ(cell.failed.size(), 1U);  // it would fail again; it is not asked for once more
    EXPECT_EQ(cell.missing, (std::vector<std::int64_t>{5, 6, 7, 8, 9}));
    EXPECT_EQ(cell.mean, 80);  // the worst is dropped only once all ten are done
    ASSERT_TRUE(cell.seconds_a_step);
    EXPECT_NEAR(*cell.seconds_a_step, 0.1, 1e-9);
    EXPECT_NEAR(*cell.seconds_left, 0.1 * (5 * 5000 + 4900), 1e-6);
    EXPECT_FALSE(row.cells[1].seconds_a_step);
    Specification roper = paper;
    roper.model.position = "roper";
    speeds.seconds_a_step[shapeKey(roper)] = 2;
    EXPECT_EQ(makeBoard(runs.records, speeds)[1].cells[1].seconds_left, 2.0 * 10 * 5000);
}

}  // namespace
}  // namespace roper
