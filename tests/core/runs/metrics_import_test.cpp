#include "core/runs/metrics_import.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(Import, CsvOfAnotherProgram) {
    const TemporaryFolder runs;
    const ForeignTable table = parseForeignTable(
        "\xef\xbb\xbfGlobal "
        "Step;\"train/loss\";val_loss;note\r\n10;0.5;;first\r\n20;nan;0.75;\"a;b\"\r\n\r\n",
        "other.csv");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"Global Step", "train/loss", "val_loss", "note"}));
    const auto mapping = guessMapping(table);
    EXPECT_EQ(mapping.at("step"), "Global Step");
    EXPECT_EQ(mapping.at("loss"), "train/loss");
    EXPECT_EQ(mapping.at("evaluation_loss"), "val_loss");
    const RunFolder run = importRun(runs.path(), "theirs", {}, table, mapping);
    ASSERT_EQ(run.metrics().size(), 2U);
    EXPECT_EQ(run.metrics()[0].step, 10);
    EXPECT_EQ(run.metrics()[0].loss, 0.5);
    EXPECT_TRUE(std::isnan(run.metrics()[1].loss));
    ASSERT_EQ(run.evaluations().size(), 1U);
    EXPECT_EQ(run.evaluations()[0].loss, 0.75);
    EXPECT_EQ(run.status().state, RunState::finished);
    EXPECT_EQ(run.specification().training.steps, 20);
    EXPECT_EQ(run.specification().about.title, "imported from other.csv");
}

TEST(Import, JsonLinesWithColumnsThatComeLater) {
    const TemporaryFolder runs;
    const ForeignTable table = parseForeignTable(
        "{\"step\": 1, \"loss\": 2.5, \"name\": \"x\"}\n{\"step\": 2, \"loss\": null, \"correct\": 7, "
        "\"of\": 64}\n",
        "l.jsonl");
    const RunFolder run = importRun(runs.path(), "theirs", {}, table, guessMapping(table));
    EXPECT_EQ(run.metrics().size(), 1U);
    EXPECT_EQ(run.evaluations()[0].correct, 7);
    EXPECT_EQ(run.evaluations()[0].of, 64);
}

TEST(Import, SeveralRowsOfOneStepAreJoined) {
    const TemporaryFolder runs;
    const ForeignTable table = parseForeignTable(
        "step,lr,train_loss,val_loss,correct\n10,1e-3,,,\n10,,0.5,,\n10,,,0.75,\n10,,,,9\n20,,0.25,,\n",
        "csv_logger.csv");
    const RunFolder run = importRun(runs.path(), "theirs", {}, table, guessMapping(table));
    ASSERT_EQ(run.metrics().size(), 2U);
    EXPECT_EQ(run.metrics()[0].loss, 0.5);
    ASSERT_EQ(run.evaluations().size(), 1U);
    EXPECT_EQ(run.evaluations()[0].loss, 0.75);
    EXPECT_EQ(run.evaluations()[0].correct, 9);
    EXPECT_EQ(run.status().host, "");  // it says nothing of this machine's speed
    EXPECT_TRUE(check(run.specification()).empty());
}

TEST(Import, NotANumberInJsonIsEmpty) {
    const ForeignTable table = parseForeignTable("{\"step\": 1, \"loss\": NaN, \"x\":-Infinity}\n", "f");
    ASSERT_EQ(table.columns, (std::vector<std::string>{"loss", "step", "x"}));
    EXPECT_EQ(table.first_rows[0], (ForeignTable::Row{std::nullopt, 1.0, std::nullopt}));
}

TEST(Import, AFileIsReadLikeItsText) {
    const TemporaryFolder runs;
    const std::string text = "\xef\xbb\xbfstep,loss\r\n1,0.5\r\n\r\n2,0.25";  // the last line has no end
    writeFileAtomically(runs / "f.csv", text);
    for (const ForeignTable& table : {parseForeignTable(text, "f"), readForeignTable(runs / "f.csv")}) {
        EXPECT_EQ(table.row_count, 2U);
        std::vector<double> losses;
        table.forEachRow({1, 0}, [&](const ForeignTable::Row& row) { losses.push_back(*row[0]); });
        EXPECT_EQ(losses, (std::vector<double>{0.5, 0.25}));
    }
    expectError(ErrorKind::disk, "missing.csv", [&] { readForeignTable(runs / "missing.csv"); });
}

TEST(Import, OnlyRegularFilesOfSomeSize) {
    const TemporaryFolder runs;
    ASSERT_EQ(::mkfifo((runs / "pipe").c_str(), 0600), 0);
    std::ofstream(runs / "large") << "step,loss\n1,2\n";
    std::filesystem::resize_file(runs / "large", kMostImportedBytes + 1);
    for (const std::filesystem::path& file : {runs / "pipe", runs.path(), std::filesystem::path("/dev/zero")})
        expectError(ErrorKind::disk, ", not a file", [&] { readForeignTable(file); });
    expectError(ErrorKind::disk, "holds more than 1", [&] { readForeignTable(runs / "large"); });
}

TEST(Import, IsCancelledAtAnyLine) {
    const TemporaryFolder runs;
    std::string text = "step,loss\n";
    for (int row = 0; row < 1000; ++row)
        text += std::to_string(row) + ",0.5\n";
    writeFileAtomically(runs / "f.csv", text);
    int left = 10, asked = 0;
    const auto goes_on = [&] { return ++asked <= left; };
    expectError(ErrorKind::other, "cancelled", [&] { readForeignTable(runs / "f.csv", goes_on); });
    EXPECT_EQ(asked, left + 1);
    // In the second time round, when the run is being written.
    left = 1'000'000;
    const ForeignTable table = readForeignTable(runs / "f.csv", goes_on);
    asked = 0;
    left = 1500;
    expectError(ErrorKind::other, "cancelled",
                [&] { importRun(runs.path(), "a", {}, table, guessMapping(table)); });
    EXPECT_EQ(asked, left + 1);
    EXPECT_FALSE(std::filesystem::exists(runs / "a"));
}

TEST(Import, SaysWhatIsWrong) {
    const TemporaryFolder runs;
    const auto refused = [](const std::string& text, const std::string& what) {
        expectError(ErrorKind::usage, what, [&] { parseForeignTable(text, "f"); });
    };
    refused("", "is empty");
    refused("a,b\n", "no rows");
    refused("a,b\n1\n", "f:2: the row has 1 columns");
    refused("{\"a\":1}\n{\"a\":\n", "f:2: not JSON");
    refused("{\"a\":1}\n[1]\n", "f:2: a line must be one JSON object");
    const ForeignTable table = parseForeignTable("s,x\n1,2\n3,4\n2,5\n", "f");
    const auto import_refused = [&](const std::map<std::string, std::string>& mapping,
                                    const std::string& what) {
        expectError(ErrorKind::usage, what, [&] { importRun(runs.path(), "a", {}, table, mapping); });
    };
    import_refused({}, "counts the steps");
    import_refused({{"step", "s"}}, "is the loss");
    import_refused({{"step", "t"}, {"loss", "x"}}, "no column \"t\" for step; it has s, x");
    import_refused({{"step", "s"}, {"lose", "x"}}, "no field \"lose\"");
    import_refused({{"step", "s"}, {"loss", "x"}}, "row 3 goes back to step 2");
    const ForeignTable clock = parseForeignTable("s,x\n1700000000000000000,2\n", "f");
    expectError(ErrorKind::usage, "Is it the right column?", [&] {
        importRun(runs.path(), "a", {}, clock, {{"step", "s"}, {"loss", "x"}});
    });
    EXPECT_FALSE(std::filesystem::exists(runs / "a"));
}

/// Python's NaN is replaced without moving the rest of the line each time.
TEST(Import, ALineOfManyNaNsIsReadInTime) {
    std::string line = R"({"step":1,"all":[ NaN)";
    for (int i = 0; i < 1'000'000; ++i)
        line += ", NaN";
    line += "]}";
    EXPECT_TRUE(
        endsWithin(10, 1'000'000'000, [&] { EXPECT_EQ(parseForeignTable(line, "f").columns.size(), 1U); }));
}

}  // namespace
}  // namespace roper
