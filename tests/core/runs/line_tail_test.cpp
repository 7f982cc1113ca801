#include "core/runs/line_tail.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/durable_file.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(LineTail, HandsOutWholeLinesOnce) {
    const TemporaryFolder folder;
    LineTail tail(folder / "f");
    EXPECT_TRUE(tail.poll().lines.empty());
    std::ofstream file(folder / "f");
    file << "a\nb\nc" << std::flush;
    EXPECT_EQ(tail.poll().lines, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(tail.poll().lines.empty());
    file << "c\n" << std::flush;
    EXPECT_EQ(tail.poll().lines, (std::vector<std::string>{"cc"}));
}

TEST(LineTail, ReadsAReplacedFileAgain) {
    const TemporaryFolder folder;
    LineTail tail(folder / "f");
    writeFileAtomically(folder / "f", "a\nb\nc\n");
    EXPECT_FALSE(tail.poll().restarted);
    // Longer than before, so its size alone does not reveal the replacement.
    writeFileAtomically(folder / "f", "a\nb\nd\ne\n");
    const LineTail::Update update = tail.poll();
    EXPECT_TRUE(update.restarted);
    EXPECT_EQ(update.lines.size(), 4U);
}

TEST(LineTail, ReadsALongFileInParts) {
    const TemporaryFolder folder;
    std::string content;
    for (int i = 0; i < 1000; ++i)
        content += "line " + std::to_string(i) + "\n";
    writeFileAtomically(folder / "f", content);
    LineTail tail(folder / "f");
    std::vector<std::string> lines;
    int polls = 0;
    LineTail::Update update;
    update.more = true;
    for (; update.more; ++polls) {
        update = tail.poll(100);
        lines.insert(lines.end(), update.lines.begin(), update.lines.end());
    }
    EXPECT_EQ(lines.size(), 1000U);
    EXPECT_EQ(lines.back(), "line 999");
    EXPECT_GT(polls, 50);
}

}  // namespace
}  // namespace roper
