#include "core/base/file_reading.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "core/base/durable_file.h"
#include "core/base/text.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> linesOf(const fs::path& path) {
    std::vector<std::string> lines;
    LineReader reader(path);
    while (const auto line = reader.next())
        lines.emplace_back(*line);
    EXPECT_EQ(reader.number(), lines.size());
    return lines;
}

/// A sparse file of one terabyte: zeros after `begin`.
fs::path sparseFile(const TemporaryFolder& folder, const std::string& begin) {
    std::ofstream(folder / "sparse") << begin;
    fs::resize_file(folder / "sparse", 1ULL << 40U);
    return folder / "sparse";
}

RC_GTEST_PROP(LineReader, HandsOutWholeLines, (const std::vector<std::string>& texts, bool torn)) {
    const TemporaryFolder folder;
    std::vector<std::string> lines;
    std::string content;
    for (std::string line : texts) {
        std::erase(line, '\n');
        lines.push_back(line);
        content += line + "\n";
    }
    writeFileAtomically(folder / "f", content + (torn ? "torn" : ""));
    RC_ASSERT(linesOf(folder / "f") == lines);
    while (!lines.empty() && lines.back().empty())
        lines.pop_back();
    RC_ASSERT(lastLine(folder / "f") == (lines.empty() ? std::nullopt : std::optional(lines.back())));
}

TEST(LineReader, LinesLongerThanItsPartsAreWhole) {
    const TemporaryFolder folder;
    std::string content;
    std::vector<std::string> lines;
    for (const std::size_t length : {0U, 65535U, 65536U, 65537U, 1U, 300000U, 1000000U}) {
        lines.emplace_back(length, static_cast<char>('a' + lines.size()));
        content += lines.back() + "\n";
    }
    writeFileAtomically(folder / "f", content);
    EXPECT_EQ(linesOf(folder / "f"), lines);
    EXPECT_EQ(lastLine(folder / "f"), lines.back());
}

TEST(LineReader, AMissingFileHasNoLines) {
    EXPECT_TRUE(linesOf("/nowhere/at/all").empty());
    EXPECT_EQ(lastLine("/nowhere/at/all"), std::nullopt);
    EXPECT_EQ(readEnd("/nowhere/at/all", 10), "");
}

TEST(LineReader, ALineThatIsTooLongCanBeCut) {
    const TemporaryFolder folder;
    const std::string longer(3000000, 'x');
    const auto truncated = [&](const std::string& content) {
        writeFileAtomically(folder / "f", content);
        LineReader reader(folder / "f", LineReader::LastLine::unfinished,
                          LineReader::OverlongLine::truncated);
        std::vector<std::string> lines;
        while (const auto line = reader.next())
            lines.emplace_back(*line);
        EXPECT_EQ(reader.number(), lines.size());
        return lines;
    };
    using Lines = std::vector<std::string>;
    const std::string beginning(1000, 'x');
    EXPECT_EQ(truncated("one\n" + longer + "\ntwo\n"), (Lines{"one", beginning, "two"}));
    EXPECT_EQ(truncated("one\n" + longer), (Lines{"one", beginning}));
    EXPECT_EQ(truncated(longer + "\n" + longer + "\nend\ntorn"), (Lines{beginning, beginning, "end"}));
    const fs::path sparse = sparseFile(folder, "one\n");
    LineReader reader(sparse, LineReader::LastLine::unfinished, LineReader::OverlongLine::truncated);
    EXPECT_EQ(reader.next(), "one");
    expectError(ErrorKind::disk, "a line longer than 67.1 MB", [&] { reader.next(); });
}

TEST(Reading, ATerabyteOfNothingIsRefusedUnread) {
    const TemporaryFolder folder;
    const fs::path sparse = sparseFile(folder, "one\ntwo\n");
    expectError(ErrorKind::disk, "is larger than 67.1 MB", [&] { readFile(sparse); });
    expectError(ErrorKind::disk, "is larger than 5 bytes", [&] { readFile(sparse, 5); });
    expectError(ErrorKind::disk, "a line longer than", [&] { lastLine(sparse); });
    LineReader lines(sparse);
    EXPECT_EQ(lines.next(), "one");
    EXPECT_EQ(lines.next(), "two");
    expectError(ErrorKind::disk, "a line longer than", [&] { lines.next(); });
    EXPECT_EQ(readEnd(sparse, 3), std::string(3, '\0'));
}

}  // namespace
}  // namespace roper
