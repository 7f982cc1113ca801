#include "core/base/crash_report.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

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

}  // namespace
}  // namespace roper
