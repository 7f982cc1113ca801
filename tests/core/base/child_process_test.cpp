#include "core/base/child_process.h"

#include <gtest/gtest.h>
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
    // However much is written, nobody is killed by a signal for it.
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

}  // namespace
}  // namespace roper
