#include "core/runs/status.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/expect_error.h"
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

TEST(Status, RunningIsTrueOnlyWhileTheWriterLives) {
    Status status;
    status.state = RunState::running;
    stampWithThisProcess(status);
    EXPECT_EQ(trueState(status), RunState::running);

    Status of_before_the_last_boot = status;
    of_before_the_last_boot.boot_id = "another boot";
    EXPECT_EQ(trueState(of_before_the_last_boot), RunState::interrupted);

    Status pid_used_again = status;
    pid_used_again.process_start += 1;
    EXPECT_EQ(trueState(pid_used_again), RunState::interrupted);

    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    Status of_one_that_is_gone = status;
    of_one_that_is_gone.pid = child;
    EXPECT_EQ(trueState(of_one_that_is_gone), RunState::interrupted);

    status.state = RunState::finished;
    status.pid = 0;
    EXPECT_EQ(trueState(status), RunState::finished);
}

TEST(Status, OnAnotherHostTheHeartbeatDecides) {
    Status status;
    status.state = RunState::running;
    stampWithThisProcess(status);
    status.host = "another-host";
    EXPECT_EQ(trueState(status), RunState::running);
    status.heartbeat -= 3600;
    EXPECT_EQ(trueState(status), RunState::interrupted);
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

}  // namespace
}  // namespace roper
