#include "core/runs/rows.h"

#include <gtest/gtest.h>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/durable_file.h"
#include "core/base/text.h"
#include "core/runs/line_tail.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(Rows, RowsReadBackBitForBit) {
    const MetricsRow row{
        7, 0.1, 1234567890123, 1.0 / 3.0, 2.5e-4, std::numeric_limits<double>::denorm_min(), 1e300};
    const MetricsRow again = parseRow<MetricsRow>(formatRow(row));
    EXPECT_EQ(again.step, row.step);
    EXPECT_EQ(again.tokens, row.tokens);
    EXPECT_EQ(again.loss, row.loss);
    EXPECT_EQ(again.grad_norm, row.grad_norm);
    EXPECT_EQ(again.tokens_per_s, row.tokens_per_s);
}

TEST(Rows, NotANumberIsWrittenAsNan) {
    MetricsRow row;
    row.loss = -std::numeric_limits<double>::quiet_NaN();
    row.grad_norm = std::numeric_limits<double>::infinity();
    EXPECT_EQ(formatRow(row), "0,,,nan,,inf,");
    EXPECT_TRUE(std::isnan(parseRow<MetricsRow>(formatRow(row)).loss));
}

TEST(Rows, EvaluationsLeaveOutWhatATaskDoesNotHave) {
    EvaluationRow row;
    row.step = 100;
    row.loss = 0.5;
    row.loss_lower_bound = 0.25;
    EXPECT_EQ(formatRow(row), "100,,,,0.5,0.25,,,,");
    const EvaluationRow again = parseRow<EvaluationRow>(formatRow(row));
    EXPECT_FALSE(again.correct);
    EXPECT_EQ(again.loss_lower_bound, 0.25);
}

TEST(Rows, EvaluationsOfOlderVersionsAreRead) {
    const EvaluationRow row = parseRow<EvaluationRow>("100,2.5,12,128,0.5,");
    EXPECT_EQ(row.correct, 12);
    EXPECT_FALSE(row.tokens_correct || row.overlaps || row.fully_correct);
    EXPECT_EQ(parseRow<EvaluationRow>("100,2.5,12,128,0.5,,,,3").overlaps, 3);
    EXPECT_EQ(parseRow<EvaluationRow>("100,2.5,12,128,0.5,,,,3,11").fully_correct, 11);
    EXPECT_TRUE(isHeader<EvaluationRow>("step,time_s,correct,of,loss,floor"));
    for (const char* cut : {"100,2.5,12,128,0.5", "100,2.5,12,128,0.5,,", "100,2.5,12,128,0.5,,,,3,11,"})
        expectError(ErrorKind::usage, "columns", [&] { parseRow<EvaluationRow>(cut); });
}

TEST(Rows, EachColumnIsNamedInTheHeaderAndTheObject) {
    EXPECT_EQ(
        headerLine<EvaluationRow>(),
        "step,time_s,correct,of,loss,loss_lower_bound,tokens_correct,tokens_scored,overlaps,fully_correct");
    EvaluationRow row;
    row.loss = 0.5;
    const auto json = rowJson(row);
    ASSERT_EQ(json.size(), split(headerLine<EvaluationRow>(), ',').size());
    EXPECT_TRUE(json.at("correct").is_null());
    EXPECT_EQ(json.at("loss"), 0.5);
    const auto curves = tensorboardValues(row);
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_EQ(curves[0].first, "loss");
}

TEST(Rows, SamplesAreLinesOfJson) {
    const Sample sample{7, "?a\n\"", "b", "\xff", std::nullopt};
    const std::string line = formatRow(sample);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Sample again = parseRow<Sample>(line);
    EXPECT_EQ(again.prompt, sample.prompt);
    EXPECT_FALSE(again.correct);
    EXPECT_EQ(formatRow(again), line);
    EXPECT_TRUE(again.predicted.empty());
    Sample masked = sample;
    masked.predicted = {0, 1, 1, 5, 2, 0};
    EXPECT_EQ(parseRow<Sample>(formatRow(masked)).predicted, masked.predicted);
    const std::string right = formatRow(masked), list = "[0,1,1,5,2,0]";
    for (const char* bad : {"7", "[1e23]", "{\"a\":1}"}) {
        std::string wrong = right;
        ASSERT_NE(wrong.find(list), std::string::npos) << right;
        wrong.replace(wrong.find(list), list.size(), bad);
        EXPECT_THROW(parseRow<Sample>(wrong), Error) << bad;
    }
    // Older versions did not write this member.
    const std::string older =
        R"({"step": 1, "prompt": "a", "expected": "b", "completion": "c", "correct": null})";
    EXPECT_EQ(parseRow<Sample>(older).completion, "c");
    EXPECT_FALSE(isHeader<Sample>(line));
    EXPECT_TRUE(headerLine<Sample>().empty());
    expectError(ErrorKind::usage, "not a line of samples.jsonl", [] { parseRow<Sample>("{}"); });
}

TEST(Rows, NamesTheColumnThatIsWrong) {
    expectError(ErrorKind::usage, "column loss", [] { parseRow<MetricsRow>("1,2,3,x,5,6,7"); });
    expectError(ErrorKind::usage, "columns", [] { parseRow<MetricsRow>("1,2,3"); });
    expectError(ErrorKind::usage, "column step", [] { parseRow<MetricsRow>("1.5,2,3,4,5,6,7"); });
}

TEST(Text, NumbersIgnoreTheLocale) {
    EXPECT_EQ(parseNumber("0.5"), 0.5);
    EXPECT_EQ(parseNumber("1e-3"), 1e-3);
    EXPECT_FALSE(parseNumber("0,5"));
    EXPECT_FALSE(parseNumber("1x"));
    EXPECT_FALSE(parseNumber(""));
    EXPECT_FALSE(parseInteger("99999999999999999999"));
}

TEST(Rows, MethodRowsReadBack) {
    for (const MethodRow& row : {MethodRow{10, "query_key_frequency", 1, {}, 3, 0.0125},
                                 MethodRow{0, "relative_bias", {}, 2, 31, -1.5},
                                 MethodRow{7, "least_denominator", 0, 1, {}, 1e-9}}) {
        const MethodRow again = parseRow<MethodRow>(formatRow(row));
        EXPECT_EQ(formatRow(again), formatRow(row));
        EXPECT_EQ(again.layer, row.layer);
        EXPECT_EQ(again.index, row.index);
        EXPECT_EQ(again.value, row.value);
    }
    expectError(ErrorKind::usage, "column index", [] { parseRow<MethodRow>("1,relative_bias,,2,x,0"); });
}

TEST(Rows, LengthsAndPositionsReadBackAndMustMakeSense) {
    const LengthRow length{9, "yarn", 4, 256, 3.25, 7, 100};
    const LengthRow again = parseRow<LengthRow>(formatRow(length));
    EXPECT_EQ(formatRow(again), "9,yarn,4,256,3.25,7,100");
    const PositionRow position{9, "none", 1, 256, 31, 0.1};
    EXPECT_EQ(formatRow(parseRow<PositionRow>(formatRow(position))), "9,none,1,256,31,0.1");
    expectError(ErrorKind::usage, "\"tokens_correct\" must lie between",
                [] { parseRow<LengthRow>("9,none,1,256,3,8,7"); });
    expectError(ErrorKind::usage, "\"tokens_correct\" must lie between",
                [] { parseRow<LengthRow>("9,none,1,256,3,-1,7"); });
    expectError(ErrorKind::usage, "must not be negative", [] { parseRow<PositionRow>("9,none,1,256,-1,3"); });
}

/// A parser that compares each key with all previous ones would take minutes.
TEST(Rows, ALineOfManyKeysIsReadInTime) {
    std::string line = "{";
    for (int i = 0; i < 300'000; ++i)
        line += "\"" + std::to_string(i) + "\":0,";
    line += R"("step":1,"prompt":"p","expected":"e","completion":"c","correct":true})";
    EXPECT_TRUE(
        finishesWithin(10, 1'000'000'000, [&] { EXPECT_EQ(parseRow<Sample>(line).completion, "c"); }));
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
