#include <gtest/gtest.h>

#include <fstream>

#include "core/base/durable_file.h"
#include "core/base/file_reading.h"
#include "core/runs/compute_environment.h"
#include "core/runs/run_recorder.h"
#include "core/runs/tensorboard_events.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

MetricsRow rowOf(std::int64_t step) {
    MetricsRow row;
    row.step = step;
    row.loss = 1.0 / static_cast<double>(step);
    return row;
}

TEST(CreateRun, MakesAWholeFolder) {
    const TemporaryFolder runs;
    Specification specification;
    specification.training.model_seed = 3;
    const RunFolder run = createRun(runs.path(), {}, specification);
    EXPECT_TRUE(run.name().ends_with("Z-addition-roper-s3")) << run.name();
    EXPECT_TRUE(isRunName(run.name()));
    EXPECT_EQ(run.status().state, RunState::queued);
    EXPECT_EQ(run.specification().training.model_seed, 3);
    EXPECT_EQ(listRuns(runs.path()).size(), 1U);
    const RunFolder second = createRun(runs.path(), {}, specification);
    EXPECT_NE(second.name(), run.name());
}

TEST(CreateRun, RefusesBadAndTakenNames) {
    const TemporaryFolder runs;
    for (const char* bad : {"../x", "a/b", ".hidden", "-x", "with space", "ü"})
        expectError(ErrorKind::usage, "cannot name a run", [&] { createRun(runs.path(), bad, {}); });
    createRun(runs.path(), "a", {});
    expectError(ErrorKind::usage, "already", [&] { createRun(runs.path(), "a", {}); });
    EXPECT_EQ(listRuns(runs.path()).size(), 1U);
}

TEST(CreateRun, RequiresTheInitialWeightsItNames) {
    const TemporaryFolder runs;
    Specification specification;
    specification.training.initial_weights = "source-{seed}";
    const auto create = [&] { return createRun(runs.path(), "a", specification); };
    expectError(ErrorKind::usage, "run or checkpoint not found: " + (runs / "source-0").string(), create);
    EXPECT_TRUE(listRuns(runs.path()).empty());
    const RunFolder source = createRun(runs.path(), "source-0", {});
    expectError(ErrorKind::usage, "has no checkpoint yet", create);
    fs::create_directory(source.checkpointsPath().path());
    std::ofstream(source.checkpointPath(10).path()) << "weights";
    EXPECT_EQ(create().specification().training.initial_weights, "source-{seed}");
}

TEST(Recorder, OnlyOneTrainerWorksOnARun) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    auto first = std::make_unique<RunRecorder>(run);
    expectError(ErrorKind::usage, "another trainer", [&] { RunRecorder{run}; });
    first.reset();
    EXPECT_NO_THROW(RunRecorder{run});
}

TEST(Recorder, RewindingDropsLaterRowsAndTornOnes) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    {
        RunRecorder recorder(run);
        for (int step = 1; step <= 10; ++step) {
            recorder.record(rowOf(step));
            recorder.record(Sample{step, "p", "e", "c", step % 2 == 0});
        }
        EvaluationRow evaluation;
        evaluation.step = 8;
        recorder.record(evaluation);
    }
    std::ofstream(run.metricsPath().path(), std::ios::app) << "11,0.5,3";  // killed while writing
    RunRecorder recorder(run);
    recorder.rewindTo({6});
    recorder.record(rowOf(7));
    const auto rows = run.metrics();
    ASSERT_EQ(rows.size(), 7U);
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(rows[i].step, static_cast<std::int64_t>(i + 1));
    EXPECT_TRUE(run.evaluations().empty());
    EXPECT_EQ(run.samples().size(), 6U);
}

TEST(Recorder, PruningKeepsTheNewestAndTheBest) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    RunRecorder recorder(run);
    for (const std::int64_t step : {10, 20, 30, 40, 50}) {
        std::ofstream(run.checkpointPath(step).path()) << "x";
        EvaluationRow row;
        row.step = step;
        row.correct = step == 20 ? 99 : 1;
        row.total = 128;
        recorder.record(row);
    }
    recorder.pruneCheckpoints(2);
    std::vector<std::int64_t> left;
    for (const auto& checkpoint : run.checkpoints())
        left.push_back(checkpoint.step);
    EXPECT_EQ(left, (std::vector<std::int64_t>{20, 40, 50}));
    EXPECT_EQ(run.bestStep(), 20);
}

TEST(RunFolder, ReadingNamesTheLineThatIsWrong) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    std::ofstream(run.metricsPath().path()) << headerLine<MetricsRow>() << "\n1,2,3,4,5,6,7\nnonsense\n";
    expectError(ErrorKind::usage, "metrics.csv:3", [&] { run.metrics(); });
}

TEST(RunFolder, IsFoundByNameOrPath) {
    const TemporaryFolder runs;
    createRun(runs.path(), "index-a", {});
    EXPECT_EQ(findRun("index-a", runs.path()).name(), "index-a");
    EXPECT_EQ(findRun((runs / "index-a/").string(), "/nowhere").name(), "index-a");
    expectError(ErrorKind::usage, "did you mean index-a?", [&] { findRun("indx-a", runs.path()); });
    EXPECT_TRUE(listRuns(runs / "missing").empty());
}

/// A run of an older version with other tags continues under the current ones, so that TensorBoard shows one
/// curve.
TEST(RunRecorder, FormerTagsOfEventsBecomeTodays) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    const std::string former = formatEventFileStart(1, Specification{}) +
                               formatEvent({1, 5, {{"evaluation/loss", 2.0F}, {"evaluation/floor", 1.0F}}}) +
                               formatEvent({2, 5, {{"evaluation/recall", 0.5F}}});
    const FilePath events = run.eventsPath();
    writeFileAtomically(events, former);
    RunRecorder(run).rewindTo({5});
    std::vector<std::string> tags;
    for (const ScalarEvent& event : parseEvents(readFile(run.eventsPath())).events)
        for (const auto& [tag, value] : event.scalars)
            tags.push_back(tag);
    EXPECT_EQ(tags, (std::vector<std::string>{"evaluation/loss", "evaluation/loss_lower_bound",
                                              "evaluation/token_accuracy"}));
}

TEST(RunFolder, TablesThatAWindowReadsAsAWholeAreLimited) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    constexpr std::uintmax_t kTooMany = 40U << 20U;
    for (const FilePath& path : {run.pathOf<MethodRow>(), run.pathOf<SizeRow>(), run.pathOf<LengthRow>(),
                                 run.pathOf<PositionRow>()}) {
        std::ofstream(path.path()) << "\n";
        std::filesystem::resize_file(path.path(), kTooMany);
    }
    const std::string what = "is larger than 33.6 MB, more than any run writes";
    expectError(ErrorKind::disk, what, [&] { run.rows<MethodRow>(); });
    expectError(ErrorKind::disk, what, [&] { run.rows<SizeRow>(); });
    expectError(ErrorKind::disk, what, [&] { run.rows<LengthRow>(); });
    expectError(ErrorKind::disk, what, [&] { run.rows<PositionRow>(); });
}

ComputeEnvironment withPrecision(const std::string& precision) {
    return {"cpu", "AMD EPYC", "AVX-512 BF16", "ours",        "oneDNN 2.7.2, AVX-512 BF16", precision, 1,
            2,     "2.11.0",   "0.1.0",        "5c01f58aaaaa"};
}

Session sessionAfter(std::int64_t step, const std::string& precision) {
    return {step, 1795608229.5, "here", withPrecision(precision)};
}

TEST(ComputeEnvironment, OfEachSessionIsKept) {
    const TemporaryFolder folder;
    const RunFolder run = createRun(folder.path(), "run", {});
    EXPECT_TRUE(readSessions(run).empty()) << "as of an older version";
    addSession(run, sessionAfter(0, "bfloat16"));
    addSession(run, sessionAfter(500, "float32"));
    const std::vector<Session> sessions = readSessions(run);
    ASSERT_EQ(sessions.size(), 2U);
    EXPECT_EQ(sessions[0].computation, withPrecision("bfloat16"));
    EXPECT_EQ(sessions[1].after_step, 500);
    EXPECT_EQ(sessions[1].started_at, 1795608229.5);
    EXPECT_EQ(sessions[1].host, "here");
    EXPECT_EQ(textOf(sessions[1].computation),
              "float32, our kernels for AVX-512 BF16, matrix products by oneDNN 2.7.2, AVX-512 BF16, "
              "AMD EPYC, 2 threads, LibTorch 2.11.0, RoPER Lab 0.1.0 of commit 5c01f58aaaaa");
    ComputeEnvironment together = withPrecision("float32");
    together.processes = 2;
    EXPECT_NE(textOf(together).find(", 2 processes with 2 threads each, "), std::string::npos);
}

TEST(ComputeEnvironment, ALineThatIsTornHidesNoOther) {
    const TemporaryFolder folder;
    const RunFolder run = createRun(folder.path(), "run", {});
    addSession(run, sessionAfter(0, "bfloat16"));
    writeFileAtomically(sessionsPath(run), readFile(sessionsPath(run), 1 << 20) + "{\"after_step\": 5");
    addSession(run, sessionAfter(10, "float32"));
    EXPECT_EQ(computeEnvironmentsOf(readSessions(run)),
              (std::vector<ComputeEnvironment>{withPrecision("bfloat16"), withPrecision("float32")}));
}

TEST(ComputeEnvironment, WhatWasComputedAgainNoLongerCounts) {
    const auto of = [](std::initializer_list<std::pair<std::int64_t, const char*>> sessions) {
        std::vector<Session> all;
        for (const auto& [step, precision] : sessions)
            all.push_back(sessionAfter(step, precision));
        std::vector<std::string> precisions;
        for (const ComputeEnvironment& computation : computeEnvironmentsOf(all))
            precisions.push_back(computation.precision);
        return precisions;
    };
    using Precisions = std::vector<std::string>;
    EXPECT_EQ(of({{0, "bfloat16"}, {0, "float32"}}), Precisions{"float32"}) << "from the beginning again";
    EXPECT_EQ(of({{0, "bfloat16"}, {100, "float32"}, {50, "bfloat16"}}), Precisions{"bfloat16"});
    EXPECT_EQ(of({{0, "bfloat16"}, {100, "float32"}, {200, "float32"}}), (Precisions{"bfloat16", "float32"}));
    EXPECT_EQ(of({}), Precisions{});
}

}  // namespace
}  // namespace roper
