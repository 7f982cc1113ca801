#include "core/runs/status.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "core/runs/run_recorder.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(Status, ReadsBackWhatItWrites) {
    const TemporaryFolder folder;
    Status status;
    status.state = RunState::failed;
    status.step = 12;
    status.steps = 100;
    status.error = "broken \xff bytes \"quoted\"\n";
    status.exit_code = 3;
    stampWithThisProcess(status);
    writeStatus(folder / "status.json", status);
    const Status again = readStatus(folder / "status.json");
    EXPECT_EQ(again.state, RunState::failed);
    EXPECT_EQ(again.step, 12);
    EXPECT_EQ(again.exit_code, 3);
    EXPECT_EQ(again.pid, ::getpid());
    EXPECT_EQ(again.process_start, status.process_start);
}

/// Status of a run that this process trains.
Status runningHere() {
    Status status;
    status.state = RunState::running;
    stampWithThisProcess(status);
    return status;
}

const auto no_lock = [] { return std::optional(false); };

bool isAlive(const Status& status) {
    return writerIsAlive(status, no_lock);
}

TEST(Status, WhatItSaysIsShownShortened) {
    std::string error;
    while (error.size() < 900'000)
        error += "zu groß ";
    const Status read = parseStatus(R"({"state": "failed", "step": 1, "steps": 2, "error": ")" + error +
                                        R"(", "host": ")" + error + "\"}",
                                    "status.json");
    for (const std::string& shown : {read.error, read.host}) {
        EXPECT_LT(shown.size(), 1010U);
        EXPECT_TRUE(shown.ends_with("…")) << shown;
        EXPECT_EQ(findInvalidUtf8(shown), std::string::npos) << "a character was cut";
    }
}

TEST(Status, RunningIsTrueOnlyWhileTheWriterLives) {
    Status status = runningHere();
    EXPECT_TRUE(isAlive(status));

    Status of_before_the_last_boot = status;
    of_before_the_last_boot.boot_id = "another boot";
    of_before_the_last_boot.heartbeat = bootTime() - 5;
    EXPECT_FALSE(isAlive(of_before_the_last_boot));

    Status pid_used_again = status;
    pid_used_again.process_start += 1;
    EXPECT_FALSE(isAlive(pid_used_again));

    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    Status of_one_that_is_gone = status;
    of_one_that_is_gone.pid = child;
    EXPECT_FALSE(isAlive(of_one_that_is_gone));

    status.pid = 0;
    EXPECT_FALSE(isAlive(status));
}

TEST(Status, OfAnotherContainerTheLockTells) {
    Status status = runningHere();
    status.pid_namespace = "pid:[1]";
    status.host = "container";
    status.pid = 1;  // here another process
    EXPECT_EQ(livenessCheckFor(status), LivenessCheck::lock);
    status.heartbeat = 0;
    EXPECT_TRUE(writerIsAlive(status, [] { return std::optional(true); }));
    EXPECT_FALSE(writerIsAlive(status, [] { return std::optional(false); }));
    EXPECT_FALSE(writerIsAlive(status, [] { return std::optional<bool>(); }));
    status.heartbeat = secondsSinceEpoch();
    EXPECT_TRUE(writerIsAlive(status, [] { return std::optional<bool>(); }));
}

TEST(RunFolder, ATrainerOfAnotherContainerIsSeenByItsLock) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    Status status = runningHere();
    status.pid_namespace = "pid:[1]";
    {
        const RunRecorder trainer(run);
        EXPECT_EQ(run.effectiveState(status), RunState::running);
    }
    EXPECT_EQ(run.effectiveState(status), RunState::interrupted);
}

// Regression: queue, sweeps and window treated a run as finished although its run.toml required more steps.
TEST(RunFolder, AFinishedRunOfWhichMoreStepsAreAskedIsUnfinished) {
    const TemporaryFolder runs;
    Specification specification;
    specification.training.steps = 100;
    const RunFolder run = createRun(runs.path(), "a", specification);
    Status status = run.status();
    status.step = status.steps = 100;
    const auto ask = [&](std::int64_t steps) {
        specification.training.steps = steps;
        std::ofstream(run.specificationPath().path()) << toToml(specification);
    };
    status.state = RunState::finished;
    std::ofstream(run.checkpointPath(100).path()) << "weights";
    EXPECT_EQ(run.effectiveState(status), RunState::finished);
    ask(200);
    EXPECT_EQ(run.stepsToContinueTo(status), 200);
    EXPECT_EQ(run.effectiveState(status), RunState::unfinished);
    for (const RunState other : {RunState::stopped, RunState::failed, RunState::queued}) {
        status.state = other;
        EXPECT_FALSE(run.stepsToContinueTo(status));
        EXPECT_EQ(run.effectiveState(status), other);
    }
    status.state = RunState::finished;
    ask(50);
    EXPECT_EQ(run.effectiveState(status), RunState::finished);
    ask(200);
    // As for an imported run: it cannot be continued.
    std::filesystem::remove(run.checkpointPath(100).path());
    EXPECT_EQ(run.effectiveState(status), RunState::finished);
    std::ofstream(run.specificationPath().path()) << "training = 1";
    EXPECT_EQ(run.effectiveState(status), RunState::finished);
    expectError(ErrorKind::usage, "run.toml", [&] { run.stepsToContinueTo(status); });
}

TEST(Status, OnAnotherHostTheHeartbeatDecides) {
    Status status = runningHere();
    status.host = "another-host";
    status.boot_id = "another boot";
    EXPECT_EQ(livenessCheckFor(status), LivenessCheck::heartbeat);
    EXPECT_TRUE(isAlive(status));
    const double now = status.heartbeat;
    for (const double off : {-3600.0, 3600.0, 8.7e9}) {  // the last one is in the year 2300
        status.heartbeat = now + off;
        EXPECT_FALSE(isAlive(status)) << off;
    }
}

TEST(Status, NonsenseIsSaidToBeSo) {
    const TemporaryFolder folder;
    for (const char* nonsense :
         {"", "{", "[]", "{\"state\":\"running\"}", "{\"state\":\"flying\",\"step\":1,\"steps\":2}"}) {
        writeFileAtomically(folder / "status.json", nonsense);
        expectError(ErrorKind::usage, "", [&] { readStatus(folder / "status.json"); });
    }
    for (const char* number : {"4e31", "1.5", "18446744073709551615", "\"7\"", "null"}) {
        writeFileAtomically(folder / "status.json",
                            "{\"state\":\"running\",\"steps\":2,\"step\":" + std::string(number) + "}");
        expectError(ErrorKind::usage, "\"step\" must be a whole number",
                    [&] { readStatus(folder / "status.json"); });
    }
}

/// A recursive traversal of such a list overflows the stack.
TEST(Status, NestingIsRefusedWhereverItStands) {
    const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
    EXPECT_TRUE(finishesWithin(10, 1'000'000'000, [&] {
        expectError(ErrorKind::usage, "nested too deeply", [&] {
            parseStatus(R"({"state":"running","steps":2,"step":)" + deep + "}", "status.json");
        });
    }));
}

}  // namespace
}  // namespace roper
