#include "core/compare/grouping.h"

#include <gtest/gtest.h>

#include <set>

#include "core/compare/experiment.h"
#include "core/compare/run_filter.h"
#include "core/specification/presets.h"
#include "tests/support/compared_runs.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

// Fields that belong to a method are named only if they differ from the default.
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

/// Metrics without a known method must not count as RoPER, nor two such files as seeds of one experiment.
TEST(Grouping, ImportedRunsAreNoMethodOfOurs) {
    std::vector<RunRecord> runs(3);
    runs[1].specification.about.method = runs[2].specification.about.method = kUnknownMethod;
    runs[1].specification.about.title = "a, imported from m.csv";
    runs[2].specification.about.title = "b, imported from m.csv";
    const auto labels = [&] {
        std::vector<std::string> all;
        for (const RunGroup& group : groupRuns(runs))
            all.push_back(group.label);
        return all;
    };
    EXPECT_EQ(labels(), (std::vector<std::string>{"a, imported from m.csv", "addition: RoPER",
                                                  "b, imported from m.csv"}));
    runs[2].specification.about.title = runs[1].specification.about.title;
    EXPECT_EQ(labels(), (std::vector<std::string>{"RoPER", "imported"}));
    runs[0].specification.model.position = "rope";
    EXPECT_FALSE(findTwin(runs, 0));
    EXPECT_FALSE(findTwin(runs, 1));
    runs[1].specification.about.method = runs[2].specification.about.method = "PoPE";
    EXPECT_EQ(labels(), (std::vector<std::string>{"PoPE", "RoPE"}));
}

/// Regression: an imported run was grouped with runs of default settings although its own were unknown.
TEST(Grouping, SettingsThatNobodyKnowsAreNotTakenForOurs) {
    std::vector<RunRecord> runs(2);
    runs[1].specification.about.known = "task.name model.position training.steps";
    const std::vector<RunGroup> groups = groupRuns(runs);
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].label, "RoPER");
    EXPECT_EQ(groups[1].label, "RoPER, imported");
    EXPECT_TRUE(differingFields(runs[0].specification, runs[1].specification).empty());
    runs[0].specification.model.position = "rope";
    EXPECT_FALSE(findTwin(runs, 0));
    EXPECT_FALSE(findTwin(runs, 1));
}

TEST(Grouping, ByAnythingButTheSeed) {
    ComparedRuns runs = fivePairs();
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
    ComparedRuns runs = fivePairs();
    for (std::size_t i = 0; i < runs.records.size(); ++i) {
        const auto twin = findTwin(runs.records, i);
        ASSERT_TRUE(twin) << runs.records[i].name;
        EXPECT_NE(runs.records[*twin].specification.model.position,
                  runs.records[i].specification.model.position);
        EXPECT_EQ(runs.records[*twin].specification.training.data_seed,
                  runs.records[i].specification.training.data_seed);
    }
    const auto first = *findTwin(runs.records, 0);
    runs.records[first].specification.model.width *= 2;
    EXPECT_FALSE(findTwin(runs.records, 0));
    runs.records[first].specification.model.width /= 2;
    // Trained again but not finished: the finished run remains the twin.
    runs.add("roper", 0, 50, RunState::stopped).name = "z";
    EXPECT_EQ(findTwin(runs.records, 0), first);
    runs.add("none", 0, 50);
    EXPECT_FALSE(findTwin(runs.records, runs.records.size() - 1));
}

/// RoPE cannot have the settings of the values' rotation, so the two runs need not agree in them.
TEST(Grouping, ATwinMayHaveSettingsThatTheOtherMethodDoesNotRead) {
    ComparedRuns runs;
    for (const char* method : {"rope", "roper"})
        runs.add(method, 0, 1).specification.training.initial_weights = "rope-s{seed}";
    runs.records[1].specification.training.value_rotation_warmup = 100;
    EXPECT_EQ(findTwin(runs.records, 0), 1U);
    EXPECT_EQ(findTwin(runs.records, 1), 0U);
    // A run with the defaults is the closer twin, whatever its name.
    runs.add("roper", 0, 1).specification.training.initial_weights = "rope-s{seed}";
    runs.records[1].name = "z";
    EXPECT_EQ(findTwin(runs.records, 0), 2U);
    runs.records[2].specification.training.initial_weights = "another";
    EXPECT_EQ(findTwin(runs.records, 0), 1U);
    std::set<std::string> labels;
    for (const RunGroup& group : groupRuns(runs.records))
        labels.insert(group.label);
    EXPECT_EQ(labels, (std::set<std::string>{"RoPE, from rope-s{seed}", "RoPER, from another",
                                             "RoPER, from rope-s{seed}"}));
}

TEST(Grouping, LabelsNameAsLittleAsTellsApart) {
    ComparedRuns runs;
    runs.add("rope", 0, 1);
    auto& prefix = runs.add("rope", 0, 1).specification;
    prefix.task.name = "prefix";
    prefix.training.length = 193;
    const auto groups = groupRuns(runs.records);
    EXPECT_EQ(groups[0].label, "addition, RoPE");
    EXPECT_EQ(groups[1].label, "prefix, RoPE");
}

TEST(Grouping, RunsOfSeveralPresetsAreNamedByThem) {
    ComparedRuns runs;
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
    // If all runs are of one preset, the differences suffice.
    runs.records = {runs.records[0], runs.records[4]};
    EXPECT_EQ(groupRuns(runs.records)[0].label, "RoPE, width 32");
}

// If there are several experiments named by the user or a sweep's file, the names become part of the labels.
TEST(Grouping, GroupsOfNamedExperimentsAreNamedByThem) {
    ComparedRuns runs;
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
    // If the same settings occur in another experiment, too, no name describes the group.
    RunRecord again = runs.records[0];
    again.name += "-again";
    again.labels.experiment = "Sweep wide";
    runs.records.push_back(again);
    EXPECT_EQ(labels().front(), "RoPE, width 32");
    runs.records.pop_back();
    // A name generated by the window says less than the settings.
    for (RunRecord& run : runs.records)
        run.labels.experiment = newExperimentName(run.specification, {}, 0);
    EXPECT_EQ(labels().front(), "RoPE, width 32");
    for (RunRecord& run : runs.records)
        run.labels.experiment = "one alone";
    EXPECT_EQ(labels().front(), "RoPE, width 32");
}

Specification small() {
    return loadPreset("addition-small").specification;
}

TEST(Experiment, IsNamedByItsPresetAndWhatDiffersFromIt) {
    EXPECT_EQ(settingsTitle(small()), "Addition, small");
    Specification changed = small();
    changed.model.width = 64;
    changed.training.steps = 500;
    EXPECT_EQ(settingsTitle(changed), "Addition, small, width 64, steps 500");
    EXPECT_EQ(settingsTitle(withPosition(changed, "roper")), settingsTitle(changed));
    changed.training.data_seed = changed.training.model_seed = 7;
    EXPECT_EQ(settingsTitle(changed), "Addition, small, width 64, steps 500");
}

TEST(Experiment, WithoutAPresetIsNamedByItsTask) {
    Specification s;
    EXPECT_EQ(settingsTitle(s), s.task.name);
    s.model.heads = 2;
    EXPECT_EQ(settingsTitle(s), s.task.name + ", heads 2");
}

TEST(Experiment, BesideOthersIsNamedByWhatTellsItApart) {
    const auto with = [](auto... changes) {
        Specification s = small();
        s.training.steps = 100;
        (changes(s), ...);
        return s;
    };
    const auto few = [](Specification& s) { s.evaluation.problems = 32; };
    const auto slow = [](Specification& s) { s.training.learning_rate = 1e-4; };
    const auto narrow = [](Specification& s) { s.model.width = 64; };
    EXPECT_EQ(distinguishingTitles({with(few), with(few, slow), with(narrow), with(few, narrow)}),
              (std::vector<std::string>{
                  "Addition, small, problems 32", "Addition, small, learning rate 1e-04, problems 32",
                  "Addition, small, width 64", "Addition, small, width 64, problems 32"}))
        << "all have 100 steps; few are slow";
    EXPECT_EQ(distinguishingTitles({with(few)}),
              (std::vector<std::string>{"Addition, small, steps 100, problems 32"}));
    EXPECT_TRUE(distinguishingTitles({}).empty());
}

TEST(Experiment, HoldsTwinsAndSeeds) {
    Specification other = withPosition(small(), "t5");
    other.training.data_seed = other.training.model_seed = 3;
    EXPECT_EQ(experimentKey(small(), {}), experimentKey(other, {}));
    Specification wider = small();
    wider.model.width *= 2;
    EXPECT_NE(experimentKey(small(), {}), experimentKey(wider, {}));
    EXPECT_EQ(experimentKey(small(), "mine"), experimentKey(wider, "mine"));
    EXPECT_NE(experimentKey(small(), "mine"), experimentKey(small(), "yours"));
}

TEST(Experiment, StartedTwiceInAMinuteHasTwoNames) {
    const std::time_t now = 1764000000;
    const std::string first = newExperimentName(small(), {}, now);
    EXPECT_EQ(first.substr(0, 22), "Addition, small, 2025-");
    const std::string second = newExperimentName(small(), {first}, now);
    EXPECT_EQ(second, first + " (2)");
    EXPECT_EQ(newExperimentName(small(), {first, second}, now), first + " (3)");
}

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

RunRecord runOf(const std::string& folder, const std::string& task, const std::string& position,
                std::int64_t seed) {
    RunRecord run;
    run.name = folder;
    run.specification.task.name = task;
    run.specification.model.position = position;
    run.specification.training.data_seed = run.specification.training.model_seed = seed;
    return run;
}

using Names = std::vector<std::string>;

TEST(DisplayNames, AreTaskMethodAndSeed) {
    std::vector<RunRecord> runs{runOf("20261129-1", "copy", "roper", 0),
                                runOf("20261129-2", "associative_recall", "alibi", 3),
                                runOf("20261129-3", "copy", "roper", 1)};
    runs[2].specification.training.model_seed = 7;
    EXPECT_EQ(displayNames(runs), (Names{"Copy · RoPER · seed 0", "Associative recall · ALiBi · seed 3",
                                         "Copy · RoPER · seeds 1, 7"}));
    EXPECT_EQ(displayNames({}), Names{});
}

TEST(DisplayNames, NameTheSettingsInWhichRunsThatWouldShareANameDiffer) {
    std::vector<RunRecord> runs{runOf("a", "copy", "rope", 0), runOf("b", "copy", "rope", 0),
                                runOf("c", "copy", "rope", 1), runOf("d", "copy", "rope", 0)};
    runs[1].specification.model.width = 64;
    runs[3].specification.model.width = 64;
    runs[3].specification.model.base = 777;
    EXPECT_EQ(displayNames(runs),
              (Names{"Copy · RoPE · seed 0 · width 128", "Copy · RoPE · seed 0 · width 64",
                     "Copy · RoPE · seed 1", "Copy · RoPE · seed 0 · width 64, base 777"}));
}

/// Of runs with the same settings, the name of the experiment says more than the start, and the start more
/// than the folder.
TEST(DisplayNames, NameExperimentStartOrFolderOfRunsThatDifferInNothingElse) {
    std::vector<RunRecord> runs{runOf("a", "copy", "rope", 0), runOf("b", "copy", "rope", 0)};
    EXPECT_EQ(displayNames(runs), (Names{"Copy · RoPE · seed 0 · a", "Copy · RoPE · seed 0 · b"}));
    constexpr double kNoon_s = 1'795'000'000, kDay_s = 86400;
    runs[0].created_at_s = kNoon_s;
    runs[1].created_at_s = kNoon_s + 1;  // most likely in the same minute
    runs.push_back(runOf("c", "copy", "rope", 0));
    runs[2].created_at_s = kNoon_s + kDay_s;
    const Names by_start = displayNames(runs);
    EXPECT_TRUE(by_start[0].starts_with("Copy · RoPE · seed 0 · 2026-11-")) << by_start[0];
    EXPECT_TRUE(by_start[0].ends_with(" · a")) << by_start[0];
    EXPECT_FALSE(by_start[2].ends_with(" · c")) << by_start[2];
    EXPECT_EQ((std::set<std::string>(by_start.begin(), by_start.end()).size()), 3U);
    for (const std::size_t run : {0, 1, 2})
        runs[run].labels.experiment = std::string("try ") + "ABC"[run];
    EXPECT_EQ(displayNames(runs), (Names{"Copy · RoPE · seed 0 · try A", "Copy · RoPE · seed 0 · try B",
                                         "Copy · RoPE · seed 0 · try C"}));
}

TEST(DisplayNames, LeaveOutWhatNobodyKnowsOfImportedRuns) {
    std::vector<RunRecord> runs{runOf("a", "copy", "rope", 0), runOf("b", "copy", "rope", 0),
                                runOf("c", "copy", "rope", 0)};
    runs[0].specification.about.method = kUnknownMethod;
    runs[0].specification.about.title = "a, imported from m.csv";
    runs[1].specification.about.method = kUnknownMethod;
    runs[2].specification.about.method = "PoPE";
    runs[2].specification.about.known = "model.position training.steps";
    EXPECT_EQ(displayNames(runs), (Names{"a, imported from m.csv", "b", "PoPE"}));
}

}  // namespace

}  // namespace roper
