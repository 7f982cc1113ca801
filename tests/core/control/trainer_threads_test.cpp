#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/control/control_server.h"
#include "core/control/socket_path.h"
#include "core/runs/line_tail.h"
#include "core/runs/run_recorder.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kSteps = 3000;

constexpr timeval kPatience{20, 0};

/// Sends a request and reads its answer repeatedly. @returns the number of answers
int askUntil(const std::atomic<bool>& done, const std::filesystem::path& path) {
    const sockaddr_un address = socketAddress(path).value();
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::string line = formatRequest({Command::status, "t"}) + "\n";
    int answered = 0;
    while (!done) {
        char answer[4096];
        if (::send(socket, line.data(), line.size(), MSG_NOSIGNAL) < 0) break;
        if (::recv(socket, answer, sizeof answer, 0) <= 0) break;
        ++answered;
    }
    ::close(socket);
    return answered;
}

/// Follows a run as a window does. @returns the number of rows read
std::int64_t followUntil(const std::atomic<bool>& done, const RunFolder& run) {
    LineTail tail(run.metricsPath());
    std::int64_t rows = 0;
    for (bool last = false; !last;) {
        last = done;  // reads once more after the end
        const Status status = run.status();
        EXPECT_EQ(run.effectiveState(status), status.state);
        bool more = true;
        while (more) {
            const LineTail::Update update = tail.poll(1 << 16);
            for (const std::string& line : update.lines) {
                if (isHeader<MetricsRow>(line)) continue;
                EXPECT_EQ(parseRow<MetricsRow>(line).step, ++rows);
            }
            more = update.more;
        }
    }
    return rows;
}

// For ThreadSanitizer: a trainer's work between two steps, while clients query it and readers follow its
// files. All three run in one process, which exposes any global state they share.
TEST(TrainerThreads, RecorderControlAndReadersShareNothing) {
    const TemporaryFolder folder;
    const RunFolder run = createRun(folder.path(), "a", {});
    ControlServer server(folder / "s.sock");
    RunRecorder recorder(run);
    recorder.logCrashes();
    recorder.record(MetricsRow{1});
    std::atomic<bool> done = false;
    std::atomic<int> answered = 0, left = 0;
    std::atomic<std::int64_t> seen = 0;
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i)
        others.emplace_back([&] {
            answered += askUntil(done, server.path());
            ++left;
        });
    for (int i = 0; i < 2; ++i)
        others.emplace_back([&] { seen += followUntil(done, run); });
    int handled = 0;
    for (std::int64_t step = 2; step <= kSteps; ++step) {
        recorder.record(MetricsRow{step});
        Status status;
        status.state = RunState::running;
        status.step = step;
        if (step % 10 == 0) recorder.setStatus(status, Durability::process_death);
        if (step % 100 == 0) recorder.log("step " + std::to_string(step));
        server.serve(
            [&](const Request&) {
                ++handled;
                return Reply{"", true, "step"};
            },
            0ms);
    }
    done = true;
    while (left < 3)  // peers that still wait for an answer
        server.serve([&](const Request&) { return ++handled, Reply{"", true, "end"}; }, 1ms);
    for (std::thread& other : others)
        other.join();
    EXPECT_EQ(seen, 2 * kSteps);
    EXPECT_GT(answered, 0);
    EXPECT_EQ(handled, answered);
}

}  // namespace
}  // namespace roper
