#include "core/base/crash_report.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(CrashReport, IsFoundOnlyAsTheLastLineAndOfItsProcess) {
    const std::string crash = "2026-11-23T06:20:05Z  the process 12 crashed with SIGSEGV: it fell\n";
    EXPECT_EQ(crashIn("began\n" + crash, 12), "SIGSEGV: it fell");
    EXPECT_EQ(crashIn(crash + crash, 12), "SIGSEGV: it fell");
    EXPECT_FALSE(crashIn(crash, 1));
    EXPECT_FALSE(crashIn(crash, 123));
    EXPECT_FALSE(crashIn(crash + "2026-11-23T06:21:05Z  resumed from step 3\n", 12));
    EXPECT_FALSE(crashIn("", 12));
    EXPECT_EQ(crashIn("the process 12 crashed with \x1b[31m", 12)->find('\x1b'), std::string::npos);
}

TEST(CrashReport, NamesOfSignals) {
    EXPECT_EQ(signalName(SIGKILL), "SIGKILL");
    EXPECT_EQ(signalName(4711), "signal 4711");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(CrashReport, IsWrittenByAProcessThatCrashes) {
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
        int result = 0;
        ASSERT_EQ(::waitpid(child, &result, 0), child);
        EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == signal) << signal;
        std::stringstream log;
        log << std::ifstream(path).rdbuf();
        const auto crash = crashIn(log.str(), child);
        ASSERT_TRUE(crash) << log.str();
        EXPECT_EQ(crash->rfind(signalName(signal) + ": ", 0), 0U) << *crash;
    }
}
#endif

}  // namespace
}  // namespace roper
