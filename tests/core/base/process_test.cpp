#include "core/base/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "core/base/crash_report.h"
#include "core/base/stop_signals.h"
#include "core/base/this_process.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(ChildProcess, SpeaksLineByLine) {
    PipedProcess echo("/bin/cat", {"cat"});
    echo.write("one");
    EXPECT_EQ(echo.read(), "one");
    echo.write("two\nthree");
    EXPECT_EQ(echo.read(), "two");
    EXPECT_EQ(echo.read(), "three");
}

TEST(ChildProcess, KnowsThatTheOtherHasEnded) {
    PipedProcess brief("/bin/echo", {"echo", "that is all"});
    EXPECT_EQ(brief.read(), "that is all");
    EXPECT_EQ(brief.read(), std::nullopt);
    // Writing after the child has closed its input must not end this process by SIGPIPE.
    expectError(ErrorKind::other, "has closed its input", [&] {
        for (int i = 0; i < 100; ++i)
            brief.write(std::string(10000, 'x'));
    });
}

TEST(ChildProcess, NamesWhatCannotBeStarted) {
    expectError(ErrorKind::other, "/no/such/program", [] { PipedProcess("/no/such/program", {"program"}); });
}

TEST(ChildProcess, RunsUnderTheNameItIsGiven) {
    const pid_t pid = startProcess("/bin/sh", {"some-name", "-c", "test \"$0\" = some-name"}, {-1, -1, -1});
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(ChildProcess, IsRunToItsEnd) {
    const ProgramResult result = runProgram({"sh", "-c", "echo said; echo complained >&2; exit 3"}, 20);
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.output, "said\n");
    EXPECT_EQ(result.errors, "complained\n");
    // More than the buffer of a pipe, on both stdout and stderr.
    const std::string much = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
    EXPECT_EQ(runProgram({"sh", "-c", much}, 20).output.size(), 300000U);
    EXPECT_EQ(runProgram({"sh", "-c", much}, 20).errors.size(), 300000U);
    EXPECT_EQ(runProgram({"sh", "-c", "kill -TERM $$"}, 20).exit_code, 128 + SIGTERM);
    EXPECT_EQ(runProgram({"cat"}, 20).output, "");  // stdin is empty
}

TEST(ChildProcess, HasTheEnvironmentThatItIsGiven) {
    ::setenv("ROPER_CHILD_TEST", "ours", 1);
    const std::string print = "echo $ROPER_CHILD_TEST";
    EXPECT_EQ(runProgram({"sh", "-c", print}, 20).output, "ours\n");
    EXPECT_EQ(runProgram({"sh", "-c", print}, 20, {}, {"ROPER_CHILD_TEST=its own"}).output, "its own\n");
    EXPECT_EQ(runProgram({"sh", "-c", print}, 20, {}, {"OTHER=1"}).output, "\n");
    ::unsetenv("ROPER_CHILD_TEST");
}

TEST(ChildProcess, IsNotWaitedForForever) {
    expectError(ErrorKind::other, "sleep did not respond within 1 s", [] { runProgram({"sleep", "60"}, 1); });
    expectError(ErrorKind::other, "did not respond", [] {
        runProgram({"sh", "-c", "exec >&- 2>&-; sleep 60"}, 1);
    });
    expectError(ErrorKind::other, "no-such-program", [] { runProgram({"no-such-program"}, 1); });
}

TEST(CrashReport, IsFoundForItsOwnProcessAlone) {
    const std::string crash =
        "2026-11-23T06:20:05Z  the process 12 (started at tick 345) crashed with SIGSEGV: it fell\n";
    const std::string more = "2026-11-23T06:21:05Z  resumed from step 3\n";
    EXPECT_EQ(findCrash(more + crash + more, 12, 345), "SIGSEGV: it fell");
    EXPECT_FALSE(findCrash(crash, 1, 345));
    EXPECT_FALSE(findCrash(crash, 12, 34));
    EXPECT_FALSE(findCrash("", 12, 345));
    EXPECT_EQ(findCrash("the process 1 (started at tick 2) crashed with \x1b[31m", 1, 2)->find('\x1b'),
              std::string::npos);
}

TEST(CrashReport, NamesOfSignals) {
    EXPECT_EQ(signalName(SIGKILL), "SIGKILL");
    EXPECT_EQ(signalName(4711), "signal 4711");
}

/// Start time of a process; also works for a zombie, unlike `processStart`.
std::uint64_t startOf(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string field;
    for (int i = 0; i < 22; ++i)
        file >> field;
    return std::stoull(field);
}

TEST(CrashReport, IsWrittenByAProcessThatCrashes) {
    if (kSanitizer) GTEST_SKIP() << "sanitizers take these signals themselves";
    const TemporaryFolder folder;
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        const std::string path = (folder / "log").string();
        const pid_t child = ::fork();
        if (child == 0) {
            const rlimit none{0, 0};
            ::setrlimit(RLIMIT_CORE, &none);
            reportCrashesTo(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
            ::raise(signal);
            ::_exit(0);
        }
        siginfo_t end{};
        ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
        const std::uint64_t start = startOf(child);
        int result = 0;
        ASSERT_EQ(::waitpid(child, &result, 0), child);
        EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == signal) << signal;
        std::stringstream log;
        log << std::ifstream(path).rdbuf();
        const auto crash = findCrash(log.str(), child, start);
        ASSERT_TRUE(crash) << log.str();
        EXPECT_EQ(crash->rfind(signalName(signal) + ": ", 0), 0U) << *crash;
    }
}

/// The signal that ends a process which never checks for a stop request.
int endOf(const std::function<void()>& begin) {
    const pid_t child = ::fork();
    if (child == 0) {
        limitThisProcess(20, kNoLimit);
        handleStopSignals();
        begin();
        while (true)
            ::pause();
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(StopSignals, WhatHasNothingToSaveIsEndedWhateverItWaitsFor) {
    const TemporaryFolder folder;
    const std::filesystem::path socket = folder / "socket";
    std::ofstream(socket) << "x";
    EXPECT_EQ(endOf([&] {
                  setFileToRemoveOnStop(socket);
                  static const ExitOnStopSignal nothing_to_save;
                  ::raise(SIGTERM);
              }),
              SIGTERM);
    EXPECT_FALSE(std::filesystem::exists(socket));
    EXPECT_EQ(endOf([] {
                  ::raise(SIGINT);
                  static const ExitOnStopSignal nothing_to_save;
              }),
              SIGINT);
}

TEST(StopSignals, WhatHasSomethingToSaveIsLeftTimeToDoSo) {
    EXPECT_TRUE(finishesWithin(20, kNoLimit, [] {
        handleStopSignals();
        {
            const ExitOnStopSignal nothing_to_save;
            ::raise(SIGTERM);
        }
        EXPECT_EQ(stopSignal(), StopSignal::terminate);
        EXPECT_EQ(::alarm(0), 0U) << "it would be ended";
    }));
}

TEST(HeapMemory, FreedBlocksAreReturned) {
    if (kSanitizer) GTEST_SKIP() << "sanitizers replace malloc";
    EXPECT_TRUE(finishesWithin(20, kNoLimit, [] {
        constexpr std::size_t kBlock = 8U << 20U;
        const auto newlyMapped = [](std::size_t bytes) {
            const std::size_t before = ::mallinfo2().hblks;
            void* volatile const block = ::malloc(bytes);
            const std::size_t mapped = ::mallinfo2().hblks - before;
            ::free(block);
            return mapped;
        };
        EXPECT_EQ(newlyMapped(2 * kBlock), 1U);
        EXPECT_EQ(newlyMapped(kBlock), 0U) << "glibc has not raised its threshold";
        returnFreedMemory();
        EXPECT_EQ(newlyMapped(kBlock + kBlock / 2), 1U);  // more than the heap now has left
    }));
}

}  // namespace

}  // namespace roper
