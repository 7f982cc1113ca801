#include "core/base/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/support/expect_error.h"

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

}  // namespace
}  // namespace roper
