#include "core/runs/run_folder.h"

#include <gtest/gtest.h>

#include "core/base/durable_file.h"
#include "core/runs/run_recorder.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

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
