#include "core/cluster/sweep_run_status.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/runs/run_recorder.h"
#include "core/specification/presets.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

class SweepElementsTest : public testing::Test {
  protected:
    void makeRun(const std::string& name, RunState state, std::int64_t step, const std::string& error = "") {
        const RunFolder run = createRun(folder_.path(), name, loadPreset("addition-small").specification);
        RunRecorder recorder(run);
        Status status = run.status();
        status.state = state;
        status.step = step;
        status.error = error;
        recorder.setStatus(status);
    }
    void writeLog(std::int64_t array_task, const std::string& text) {
        makeFolder(submissionsFolder(folder_.path()));
        std::ofstream(arrayTaskLogPath(folder_.path(), "s.abc123", array_task).path()) << text;
    }
    std::vector<std::string> described(const std::vector<SlurmArrayTask>& array_tasks = {}) {
        std::vector<std::string> lines;
        all_ = sweepRunStatuses(folder_.path(), {"a", "b", "c"},
                                {{"s.abc123", "s", {{"a", "b"}, {"c"}}, 0, false}}, array_tasks);
        for (const SweepRunStatus& one : all_)
            lines.push_back(one.describe());
        return lines;
    }

    TemporaryFolder folder_;
    std::vector<SweepRunStatus> all_;
};

using Lines = std::vector<std::string>;

TEST_F(SweepElementsTest, SaysWhatWaitsWhyAndWhere) {
    makeRun("a", RunState::running, 30);
    makeRun("b", RunState::queued, 0);
    makeRun("c", RunState::preempted, 50);
    const std::string steps = std::to_string(RunFolder(folder_.path() / "a").status().steps);
    EXPECT_EQ(described({{"s.abc123", "9", 0, "RUNNING", "node1", "None"},
                         {"s.abc123", "9", 1, "PENDING", "", "BeginTime"},
                         {"other", "9", 2, "PENDING", "", "None"}}),
              (Lines{"running on node1 (9_0), step 30 of " + steps, "waiting on node1 (9_0)",
                     "waiting (9_1): BeginTime, step 50 of " + steps}));
    EXPECT_EQ(summaryOf(all_), "3 runs: 1 running, 2 waiting");
    for (const SweepRunStatus& one : all_)
        EXPECT_TRUE(one.isSubmittedOrRunning());
}

TEST_F(SweepElementsTest, SaysWhatEndedAndWithWhichWords) {
    makeRun("a", RunState::finished, 100);
    makeRun("b", RunState::failed, 3, "the loss is not a number");
    makeRun("c", RunState::preempted, 50);
    writeLog(1, "c starts\n/bin/bash: line 1: no such program\n");
    const Lines lines = described();
    EXPECT_EQ(lines[0], "finished");
    EXPECT_EQ(lines[1], "failed: the loss is not a number");
    EXPECT_NE(lines[2].find("preempted, step 50 of"), std::string::npos);
    EXPECT_NE(lines[2].find("its array task ended: /bin/bash: line 1: no such program"), std::string::npos);
    EXPECT_EQ(summaryOf(all_), "3 runs: 1 finished, 1 failed, 1 unfinished");
}

TEST_F(SweepElementsTest, AFinishedRunOfWhichMoreStepsAreAskedIsUnfinished) {
    makeRun("a", RunState::finished, 100);
    const RunFolder run(folder_.path() / "a");
    Specification specification = run.specification();
    const std::string steps = std::to_string(specification.training.steps *= 2);
    std::ofstream(run.specificationPath().path()) << toToml(specification);
    std::ofstream(run.checkpointPath(100).path()) << "weights";
    writeLog(0, "a: finished");
    EXPECT_EQ(described()[0], "unfinished, step 100 of " + steps);
    EXPECT_EQ(all_[0].stage(), SweepRunStage::unfinished);
    EXPECT_LT(all_[0].progress(), 1);
}

// One run of an element has failed, and the element continues with another.
TEST_F(SweepElementsTest, WhatFailedDoesNotWaitWithItsElement) {
    makeRun("a", RunState::failed, 3, "the loss is not a number");
    makeRun("b", RunState::running, 30);
    EXPECT_EQ(described({{"s.abc123", "9", 0, "RUNNING", "node1", ""}})[0],
              "failed: the loss is not a number");
    EXPECT_EQ(summaryOf(all_), "3 runs: 1 running, 1 failed, 1 not submitted");
}

TEST_F(SweepElementsTest, SaysWhatNobodyHasYet) {
    EXPECT_EQ(described(), (Lines{"not submitted", "not submitted", "not submitted"}));
    EXPECT_FALSE(all_.front().isSubmittedOrRunning());
    // The folder was removed while the scheduler still has its run.
    EXPECT_EQ(described({{"s.abc123", "9", 1, "PENDING", "", "Priority"}})[2],
              "waiting (9_1), its folder is missing");
}

TEST(Submission, IsReadBackAndNothingElseIs) {
    const TemporaryFolder folder;
    Submission one = newSubmission("mine");
    one.array_tasks = {{"mine-s0", "mine-s1"}, {"mine-s2"}};
    writeSubmission(folder.path(), one);
    EXPECT_EQ(readSubmissions(folder.path(), "mine"), std::vector{one});
    EXPECT_EQ(readSubmissions(folder.path(), ""), std::vector{one});
    EXPECT_TRUE(readSubmissions(folder.path(), "yours").empty());
    const FilePath file = submissionPath(folder.path(), one.name);
    std::ofstream(file.path())
        << R"({"name": "a", "sweep": "b", "elements": [["../c"]], "time": 0, "ended": false})";
    expectError(ErrorKind::usage, "\"../c\" is not a valid name of a run", [&] { readSubmission(file); });
    std::ofstream(file.path())
        << R"({"name": "a", "sweep": "b", "elements": [["c"]], "time": 0, "ended": false})";
    expectError(ErrorKind::usage, "belongs to another submission, a", [&] { readSubmission(file); });
    std::ofstream(file.path())
        << R"({"name": "a", "sweep": "b", "elements": [[7]], "time": 0, "ended": false})";
    expectError(ErrorKind::usage,
                "was not written by `roper-train sweep --slurm`: elements: type must be string",
                [&] { readSubmission(file); });
    std::ofstream(file.path()) << R"({"name": "a", "sweep": "b", "elements": [], "ended": false})";
    expectError(ErrorKind::usage, "time", [&] { readSubmission(file); });
    for (const char* text :
         {"", "[]", "{}", R"({"name": 3})", R"({"name": "a", "sweep": "b", "elements": 4})"}) {
        std::ofstream(file.path()) << text;
        expectError(ErrorKind::usage, "was not written by `roper-train sweep --slurm`",
                    [&] { readSubmission(file); });
    }
}

}  // namespace
}  // namespace roper
