#include "core/compare/run_differences.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace roper {
namespace {

using Values = std::vector<std::string>;

RunRecord finishedRun(const std::string& name, const std::string& position) {
    RunRecord run;
    run.name = name;
    run.specification.model.position = position;
    run.host = "here";
    return run;
}

const RunsRow* rowNamed(const std::vector<RunsRow>& rows, const std::string& name) {
    for (const RunsRow& row : rows)
        if (row.name == name) return &row;
    return nullptr;
}

TEST(RunDifferences, AreTheSettingsThatAreNotTheSameInAllRuns) {
    std::vector<RunRecord> runs{finishedRun("a", "rope"), finishedRun("b", "roper"),
                                finishedRun("c", "rope")};
    runs[1].specification.training.batch = 7;
    runs[2].specification.about.title = "another preset";
    const RunDifferences differences = differencesOf(runs);
    ASSERT_NE(rowNamed(differences.settings, "model.position"), nullptr);
    EXPECT_EQ(rowNamed(differences.settings, "model.position")->values, (Values{"rope", "roper", "rope"}));
    EXPECT_EQ(rowNamed(differences.settings, "training.batch")->values[1], "7");
    EXPECT_EQ(rowNamed(differences.settings, "model.width"), nullptr);
    EXPECT_EQ(rowNamed(differences.settings, "about.title"), nullptr);
    EXPECT_EQ(rowNamed(differences.settings, "machine"), nullptr);
}

TEST(RunDifferences, SayWhereARunNeverReadsASetting) {
    const std::vector<RunRecord> runs{finishedRun("a", "roper"), finishedRun("b", "none")};
    const RunDifferences differences = differencesOf(runs);
    const RunsRow* base = rowNamed(differences.settings, "model.base");
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(base->values, (Values{"10000", "not used"}));
}

TEST(RunDifferences, SayWhereNobodyKnowsASetting) {
    std::vector<RunRecord> runs{finishedRun("a", "rope"), finishedRun("b", "rope")};
    runs[1].specification.about.known = "model.position training.steps";
    const RunDifferences differences = differencesOf(runs);
    EXPECT_EQ(rowNamed(differences.settings, "training.batch")->values, (Values{"16", "–"}));
    EXPECT_EQ(rowNamed(differences.settings, "task.name")->values, (Values{"addition", "–"}));
    EXPECT_EQ(rowNamed(differences.settings, "training.steps"), nullptr);
    EXPECT_EQ(rowNamed(differences.settings, "task.string_min"), nullptr);  // belongs to another task
    EXPECT_EQ(rowNamed(differences.settings, "model.position"), nullptr);
}

TEST(RunDifferences, OutcomesStandWhereAtLeastOneRunHasThem) {
    EvaluationRow row;
    row.step = 100;
    row.correct = 96;
    row.total = 128;
    const std::vector<EvaluationRow> evaluations{row};
    std::vector<RunRecord> runs{finishedRun("a", "rope"), finishedRun("b", "rope")};
    runs[0].evaluations = evaluations;
    runs[1].state = RunState::stopped;
    runs[1].host = "there";
    const RunDifferences differences = differencesOf(runs);
    EXPECT_EQ(rowNamed(differences.settings, "machine")->values, (Values{"here", "there"}));
    EXPECT_EQ(rowNamed(differences.outcomes, "state")->values, (Values{"finished", "stopped"}));
    EXPECT_EQ(rowNamed(differences.outcomes, "problems solved at the end")->values,
              (Values{"96 of 128", "–"}));
    EXPECT_EQ(rowNamed(differences.outcomes, "steps until 90 % are solved")->values,
              (Values{"not reached", "–"}));
    EXPECT_EQ(rowNamed(differences.outcomes, "training loss, mean of the last tenth"), nullptr);
}

TEST(RunDifferences, RunsThatDifferInTheirSeedsAloneShareAColumn) {
    std::vector<RunRecord> runs;
    std::vector<std::vector<EvaluationRow>> evaluations;
    for (int seed = 0; seed < 5; ++seed) {
        EvaluationRow row;
        row.step = 100;
        row.correct = seed == 4 ? 128 : 90 + seed;
        row.total = 128;
        evaluations.push_back({row});
    }
    for (const std::string position : {"rope", "roper"})
        for (int seed = 0; seed < 5; ++seed) {
            RunRecord& run = runs.emplace_back(finishedRun(position + std::to_string(seed), position));
            run.specification.training.data_seed = seed;
            run.specification.training.model_seed = seed;
            run.evaluations = evaluations[static_cast<std::size_t>(seed)];
        }
    runs.push_back(finishedRun("wide", "rope"));
    runs.back().specification.model.width = 256;
    runs.back().state = RunState::stopped;
    const RunDifferences differences = differencesOf(runs, DifferencesBy::group);
    ASSERT_EQ(differences.columns.size(), 3U);
    EXPECT_TRUE(differences.columns[0].ends_with(", 5 runs")) << differences.columns[0];
    EXPECT_NE(std::find(differences.columns.begin(), differences.columns.end(), "wide"),
              differences.columns.end());
    const auto place =
        static_cast<std::size_t>(std::find(differences.columns.begin(), differences.columns.end(), "wide") -
                                 differences.columns.begin());
    const std::size_t many = place == 0 ? 1 : 0;
    EXPECT_EQ(rowNamed(differences.settings, "training.data_seed")->values[many], "0 … 4 (5 values)");
    EXPECT_EQ(rowNamed(differences.settings, "machine"), nullptr);
    EXPECT_EQ(rowNamed(differences.settings, "model.width")->values[place], "256");
    EXPECT_EQ(rowNamed(differences.outcomes, "problems solved at the end")->values[many],
              "98.8 of 128 (90 to 128)");
    EXPECT_EQ(rowNamed(differences.outcomes, "steps until 90 % are solved")->values[many],
              "100 (1 of 5 runs), not reached in 4");
    EXPECT_EQ(rowNamed(differences.outcomes, "state")->values[place], "stopped");

    // If a column mixes several values, all are shown; failed runs are not counted silently.
    for (RunRecord& run : runs)
        run.host = run.specification.training.data_seed < 2 ? "here" : "there";
    runs[0].state = RunState::failed;
    runs[0].evaluations = {};
    const RunDifferences mixed = differencesOf(runs, DifferencesBy::group);
    ASSERT_NE(rowNamed(mixed.settings, "machine"), nullptr);
    EXPECT_EQ(rowNamed(mixed.settings, "machine")->values[many], "here; there");
    const RunsRow& solved = *rowNamed(mixed.outcomes, "problems solved at the end");
    EXPECT_NE(std::find(solved.values.begin(), solved.values.end(), "101 of 128 (91 to 128, 4 of 5 runs)"),
              solved.values.end());
}

TEST(RunDifferences, OfOneGroupEachRunHasItsColumn) {
    std::vector<RunRecord> runs;
    for (int seed = 0; seed < 6; ++seed)
        runs.emplace_back(finishedRun("s" + std::to_string(seed), "rope")).specification.training.data_seed =
            seed;
    const RunDifferences differences = differencesOf(runs, DifferencesBy::group);
    EXPECT_EQ(differences.columns, (Values{"s0", "s1", "s2", "s3", "s4", "s5"}));
    EXPECT_EQ(rowNamed(differences.settings, "training.data_seed")->values[3], "3");
}

TEST(RunDifferences, AsMarkdownKeepTheirColumns) {
    std::vector<RunRecord> runs{finishedRun("a", "rope"), finishedRun("b|c", "roper")};
    const std::string text = toMarkdown(differencesOf(runs));
    EXPECT_TRUE(
        text.starts_with("| | Addition · RoPE · seed 0 | Addition · RoPER · seed 0 |\n|---|---|---|\n"
                         "| folder | a | b\\|c |\n"))
        << text;
    EXPECT_NE(text.find("| model.position | rope | roper |\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace roper
