#include "core/runs/csv.h"

#include <cmath>
#include <fstream>
#include <limits>

#include "core/base/durable_file.h"
#include "core/base/text.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(Csv, RowsReadBackBitForBit) {
    const MetricsRow row{
        7, 0.1, 1234567890123, 1.0 / 3.0, 2.5e-4, std::numeric_limits<double>::denorm_min(), 1e300};
    const MetricsRow again = parseMetricsRow(formatRow(row));
    EXPECT_EQ(again.step, row.step);
    EXPECT_EQ(again.tokens, row.tokens);
    EXPECT_EQ(again.loss, row.loss);
    EXPECT_EQ(again.grad_norm, row.grad_norm);
    EXPECT_EQ(again.tokens_per_s, row.tokens_per_s);
}

TEST(Csv, NotANumberIsWrittenAsNan) {
    MetricsRow row;
    row.loss = -std::numeric_limits<double>::quiet_NaN();
    row.grad_norm = std::numeric_limits<double>::infinity();
    EXPECT_EQ(formatRow(row), "0,0,0,nan,0,inf,0");
    EXPECT_TRUE(std::isnan(parseMetricsRow(formatRow(row)).loss));
}

TEST(Csv, EvaluationsLeaveOutWhatATaskDoesNotHave) {
    EvaluationRow row;
    row.step = 100;
    row.loss = 0.5;
    row.floor = 0.25;
    EXPECT_EQ(formatRow(row), "100,0,,,0.5,0.25,,,");
    const EvaluationRow again = parseEvaluationRow(formatRow(row));
    EXPECT_FALSE(again.correct);
    EXPECT_EQ(again.floor, 0.25);
}

TEST(Csv, EvaluationsOfOlderVersionsAreRead) {
    const EvaluationRow row = parseEvaluationRow("100,2.5,12,128,0.5,");
    EXPECT_EQ(row.correct, 12);
    EXPECT_FALSE(row.recalled || row.overlaps);
    EXPECT_TRUE(isHeader("step,time_s,correct,of,loss,floor"));
    expectError(ErrorKind::usage, "columns", [] { parseEvaluationRow("100,2.5,12,128,0.5"); });
}

TEST(Csv, NamesTheColumnThatIsWrong) {
    expectError(ErrorKind::usage, "column loss", [] { parseMetricsRow("1,2,3,x,5,6,7"); });
    expectError(ErrorKind::usage, "columns", [] { parseMetricsRow("1,2,3"); });
    expectError(ErrorKind::usage, "column step", [] { parseMetricsRow("1.5,2,3,4,5,6,7"); });
}

TEST(Text, NumbersIgnoreTheLocale) {
    EXPECT_EQ(parseNumber("0.5"), 0.5);
    EXPECT_EQ(parseNumber("1e-3"), 1e-3);
    EXPECT_FALSE(parseNumber("0,5"));
    EXPECT_FALSE(parseNumber("1x"));
    EXPECT_FALSE(parseNumber(""));
    EXPECT_FALSE(parseInteger("99999999999999999999"));
}

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
    writeFileAtomically(folder / "f", "a\nb\nd\ne\n");  // longer than before: size alone would not tell
    const LineTail::News news = tail.poll();
    EXPECT_TRUE(news.restarted);
    EXPECT_EQ(news.lines.size(), 4U);
}

TEST(LineTail, ReadsALongFileInPieces) {
    const TemporaryFolder folder;
    std::string content;
    for (int i = 0; i < 1000; ++i)
        content += "line " + std::to_string(i) + "\n";
    writeFileAtomically(folder / "f", content);
    LineTail tail(folder / "f");
    std::vector<std::string> lines;
    int polls = 0;
    LineTail::News news;
    news.more = true;
    for (; news.more; ++polls) {
        news = tail.poll(100);
        lines.insert(lines.end(), news.lines.begin(), news.lines.end());
    }
    EXPECT_EQ(lines.size(), 1000U);
    EXPECT_EQ(lines.back(), "line 999");
    EXPECT_GT(polls, 50);
}

TEST(Csv, MethodRowsReadBack) {
    for (const MethodRow& row : {MethodRow{10, "query_key_frequency", 1, {}, 3, 0.0125},
                                 MethodRow{0, "relative_bias", {}, 2, 31, -1.5},
                                 MethodRow{7, "least_denominator", 0, 1, {}, 1e-9}}) {
        const MethodRow again = parseMethodRow(formatRow(row));
        EXPECT_EQ(formatRow(again), formatRow(row));
        EXPECT_EQ(again.layer, row.layer);
        EXPECT_EQ(again.index, row.index);
        EXPECT_EQ(again.value, row.value);
    }
    expectError(ErrorKind::usage, "column index", [] { parseMethodRow("1,relative_bias,,2,x,0"); });
}

TEST(Csv, LengthsAndPositionsReadBackAndMustMakeSense) {
    const LengthRow length{9, "yarn", 4, 256, 3.25, 7, 100};
    const LengthRow again = parseLengthRow(formatRow(length));
    EXPECT_EQ(formatRow(again), "9,yarn,4,256,3.25,7,100");
    const PositionRow position{9, "none", 1, 256, 31, 0.1};
    EXPECT_EQ(formatRow(parsePositionRow(formatRow(position))), "9,none,1,256,31,0.1");
    expectError(ErrorKind::usage, "\"right\" must lie between", [] { parseLengthRow("9,none,1,256,3,8,7"); });
    expectError(ErrorKind::usage, "\"right\" must lie between",
                [] { parseLengthRow("9,none,1,256,3,-1,7"); });
    expectError(ErrorKind::usage, "must not be negative", [] { parsePositionRow("9,none,1,256,-1,3"); });
}

}  // namespace
}  // namespace roper
