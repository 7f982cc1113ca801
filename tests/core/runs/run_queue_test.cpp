#include "core/runs/run_queue.h"

#include <gtest/gtest.h>
#include <fstream>
#include <thread>

#include "core/base/durable_file.h"
#include "core/base/file_reading.h"
#include "core/runs/run_folder.h"
#include "core/runs/run_recorder.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(Queue, ReadsBackAsItWasWritten) {
    RunQueue queue;
    queue.max_trainers = 3;
    queue.threads = 2;
    queue.devices = {"cuda:0", "cuda:1"};
    queue.entries = {{"a", false}, {"b-2", true}};
    EXPECT_EQ(parseQueue(toToml(queue), "q"), queue);
    EXPECT_EQ(queue.capacity(), 2);
    EXPECT_EQ(parseQueue("", "q"), RunQueue{});
}

TEST(Queue, SaysWhereAHandMadeMistakeIs) {
    const auto refused = [](const char* text, const std::string& what) {
        expectError(ErrorKind::usage, what, [&] { parseQueue(text, "queue.toml"); });
    };
    refused("at_once = 0", "queue.toml:1:11: at_once must be");
    refused("at_onse = 1", "unknown key \"at_onse\"");
    refused("[[run]]\nname = \"../x\"", "queue.toml:2:8");
    refused("[[run]]\nheld = true", "needs a name");
    refused("[[run]]\nname = \"a\"\nheld = 1", "true or false");
    refused("[[run]]\nname = \"a\"\n[[run]]\nname = \"a\"", "twice");
    refused("run = \"a\"", "[[run]]");
    refused("[[run]\n", "queue.toml:1:");
    refused("devices = [\"a\\\"b\"]", "a device must be auto");
}

TEST(Queue, AFileThatCannotBeReadIsLeftAsItIs) {
    const TemporaryFolder runs;
    std::ofstream(queuePath(runs.path()).path()) << "at_once = ";
    expectError(ErrorKind::usage, "queue.toml:1:", [&] {
        changeQueue(runs.path(), [](RunQueue& queue) { queue.entries.clear(); });
    });
    EXPECT_EQ(readFile(queuePath(runs.path())), "at_once = ");
}

TEST(Queue, ManyWritersLoseNothing) {
    const TemporaryFolder runs;
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer)
        writers.emplace_back([&, writer] {
            for (int i = 0; i < 10; ++i)
                changeQueue(runs.path(), [&](RunQueue& queue) {
                    queue.entries.push_back({"r" + std::to_string(10 * writer + i), false});
                });
        });
    for (std::thread& writer : writers)
        writer.join();
    EXPECT_EQ(readQueue(runs.path()).entries.size(), 40U);
}

TEST(Queue, OneProgramWorksThroughIt) {
    const TemporaryFolder runs;
    EXPECT_FALSE(isQueueBeingProcessed(runs.path()));
    {
        const FileLock first = lockQueue(runs.path());
        EXPECT_TRUE(first.held());
        EXPECT_TRUE(isQueueBeingProcessed(runs.path()));
        EXPECT_FALSE(lockQueue(runs.path()).held());
    }
    EXPECT_FALSE(isQueueBeingProcessed(runs.path()));
}

TEST(Queue, RunsAreMadeAndWaitInOrder) {
    const TemporaryFolder runs;
    Specification s;
    const auto names = enqueueRuns(runs.path(), {s, s});
    ASSERT_EQ(names.size(), 2U);
    EXPECT_EQ(readQueue(runs.path()).entries[1].run, names[1]);
    const RunFolder folder(runs.path() / names[0]);
    EXPECT_EQ(folder.status().state, RunState::queued);
    Status stopped = folder.status();
    stopped.state = RunState::stopped;
    writeStatus(folder.statusPath(), stopped);
    resetToQueued(folder);
    EXPECT_EQ(folder.status().state, RunState::queued);
}

TEST(RunLabels, ComeBackAsTheyWereWhateverTheyHold) {
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    EXPECT_EQ(readLabels(run), RunLabels{});
    const RunLabels labels{"Addition, \"small\" \\ é", {"thesis", "a'b"}, "two\nlines,\ttab, ''' and \"\"\""};
    writeLabels(run, labels);
    EXPECT_EQ(readLabels(run), labels);
    writeLabels(run, {});
    EXPECT_EQ(readLabels(run), RunLabels{});
}

TEST(RunLabels, ArriveWithTheRun) {
    const TemporaryFolder runs;
    EXPECT_EQ(readLabels(createRun(runs.path(), "a", {}, {"first try", {}, {}})).experiment, "first try");
}

TEST(RunLabels, ThatCannotBeReadAreRefusedWithTheirPlace) {
    const auto refuses = [](const char* text, const char* why) {
        expectError(ErrorKind::usage, why, [&] { parseLabels(text, "labels.toml"); });
    };
    refuses("note = 3", "labels.toml:1:8: note must be text");
    refuses("experiment = \"a\"\ntag = \"b\"", "labels.toml:2:1: unknown key \"tag\"");
    refuses("tags = \"a\"", "tags must be a list");
    refuses("tags = [\"a b\"]", "a tag must be one word");
    const TemporaryFolder runs;
    const RunFolder run = createRun(runs.path(), "a", {});
    expectError(ErrorKind::usage, "a tag must be one word", [&] { writeLabels(run, {{}, {"a b"}, {}}); });
    EXPECT_EQ(readLabels(run), RunLabels{});
}

}  // namespace

}  // namespace roper
