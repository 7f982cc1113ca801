#include "core/runs/metrics_import.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "core/base/file_reading.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(Import, CsvOfAnotherProgram) {
    const TemporaryFolder runs;
    const ExternalTable table = parseExternalTable(
        "\xef\xbb\xbfGlobal "
        "Step;\"train/loss\";val_loss;note\r\n10;0.5;;first\r\n20;nan;0.75;\"a;b\"\r\n\r\n",
        "other.csv");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"Global Step", "train/loss", "val_loss", "note"}));
    const auto mapping = guessMapping(table);
    EXPECT_EQ(mapping.at("step"), "Global Step");
    EXPECT_EQ(mapping.at("loss"), "train/loss");
    EXPECT_EQ(mapping.at("evaluation_loss"), "val_loss");
    const RunFolder run = importRun(runs.path(), "theirs", {}, table, mapping).folder;
    ASSERT_EQ(run.metrics().size(), 2U);
    EXPECT_EQ(run.metrics()[0].step, 10);
    EXPECT_EQ(run.metrics()[0].loss, 0.5);
    EXPECT_TRUE(std::isnan(run.metrics()[1].loss));
    ASSERT_EQ(run.evaluations().size(), 1U);
    EXPECT_EQ(run.evaluations()[0].loss, 0.75);
    EXPECT_EQ(run.status().state, RunState::finished);
    EXPECT_EQ(run.specification().training.steps, 20);
    EXPECT_EQ(run.specification().about.title, "theirs, imported from other.csv");
}

TEST(Import, JsonLinesWithColumnsThatComeLater) {
    const TemporaryFolder runs;
    const ExternalTable table = parseExternalTable(
        "{\"step\": 1, \"loss\": 2.5, \"name\": \"x\"}\n{\"step\": 2, \"loss\": null, \"correct\": 7, "
        "\"of\": 64}\n",
        "l.jsonl");
    const RunFolder run = importRun(runs.path(), "theirs", {}, table, guessMapping(table)).folder;
    EXPECT_EQ(run.metrics().size(), 1U);
    EXPECT_EQ(run.evaluations()[0].correct, 7);
    EXPECT_EQ(run.evaluations()[0].total, 64);
}

TEST(Import, SeveralRowsOfOneStepAreJoined) {
    const TemporaryFolder runs;
    const ExternalTable table = parseExternalTable(
        "step,lr,train_loss,val_loss,correct\n10,1e-3,,,\n10,,0.5,,\n10,,,0.75,\n10,,,,9\n20,,0.25,,\n",
        "csv_logger.csv");
    const RunFolder run = importRun(runs.path(), "theirs", {}, table, guessMapping(table)).folder;
    ASSERT_EQ(run.metrics().size(), 2U);
    EXPECT_EQ(run.metrics()[0].loss, 0.5);
    ASSERT_EQ(run.evaluations().size(), 1U);
    EXPECT_EQ(run.evaluations()[0].loss, 0.75);
    EXPECT_EQ(run.evaluations()[0].correct, 9);
    EXPECT_EQ(run.status().host, "");  // the run says nothing about this machine's speed
}

TEST(Import, AFileIsReadLikeItsText) {
    const TemporaryFolder runs;
    // The last line is not terminated.
    const std::string text = "\xef\xbb\xbfstep,loss\r\n1,0.5\r\n\r\n2,0.25";
    writeFileAtomically(runs / "f.csv", text);
    for (const ExternalTable& table : {parseExternalTable(text, "f"), readExternalTable(runs / "f.csv")}) {
        EXPECT_EQ(table.row_count, 2U);
        std::vector<double> losses;
        table.forEachRow({1, 0},
                         [&](const ExternalTable::Row& row, std::size_t) { losses.push_back(*row[0]); });
        EXPECT_EQ(losses, (std::vector<double>{0.5, 0.25}));
    }
    expectError(ErrorKind::disk, "missing.csv", [&] { readExternalTable(runs / "missing.csv"); });
}

TEST(Import, OnlyRegularFilesOfSomeSize) {
    const TemporaryFolder runs;
    ASSERT_EQ(::mkfifo((runs / "pipe").c_str(), 0600), 0);
    std::ofstream(runs / "large") << "step,loss\n1,2\n";
    std::filesystem::resize_file(runs / "large", kMaxImportedBytes + 1);
    for (const std::filesystem::path& file : {runs / "pipe", std::filesystem::path("/dev/zero")})
        expectError(ErrorKind::disk, ", not a file", [&] { readExternalTable(file); });
    expectError(ErrorKind::disk, "is larger than 1", [&] { readExternalTable(runs / "large"); });
    std::filesystem::create_directory(runs / "train");
    expectError(ErrorKind::usage, "or one of the folders in it: train",
                [&] { readExternalTable(runs.path()); });
}

TEST(Import, IsCancelledAtAnyLine) {
    const TemporaryFolder runs;
    std::string text = "step,loss\n";
    for (int row = 0; row < 1000; ++row)
        text += std::to_string(row) + ",0.5\n";
    writeFileAtomically(runs / "f.csv", text);
    int left = 10, asked = 0;
    const auto should_continue = [&] { return ++asked <= left; };
    expectError(ErrorKind::other, "cancelled", [&] { readExternalTable(runs / "f.csv", should_continue); });
    EXPECT_EQ(asked, left + 1);
    // Cancelled in the fourth call, while the run is being written.
    left = 1'000'000;
    const ExternalTable table = readExternalTable(runs / "f.csv", should_continue);
    asked = 0;
    left = 2500;
    expectError(ErrorKind::other, "cancelled",
                [&] { importRun(runs.path(), "a", {}, table, guessMapping(table)); });
    EXPECT_EQ(asked, left + 1);
    EXPECT_FALSE(std::filesystem::exists(runs / "a"));
}

TEST(Import, SaysWhatIsWrong) {
    const TemporaryFolder runs;
    const auto refused = [](const std::string& text, const std::string& what) {
        expectError(ErrorKind::usage, what, [&] { parseExternalTable(text, "f"); });
    };
    refused("", "is empty");
    refused("a,b\n", "no rows");
    refused({"\xff\xfe"
             "a\0,\0b\0\n\0",
             10},
            "f is not UTF-8");
    refused("a,b\n1\n", "f:2: the row has 1 columns");
    refused("{\"a\":1}\n{\"a\":\n", "f:2: not JSON");
    refused("{\"a\":1}\n[1]\n", "f:2: a line must be one JSON object");
    refused("[1, 2]\n", "f:1: an element of the array is not an object");
    refused("[\n {\"a\": 1},\n {\"a\":", "f:3: not JSON: the object or array that begins here does not end");
    refused("[]\n", "has no rows");
    refused("loss,step,loss\n1,2,3\n", "f:1: two columns are called \"loss\"");
    const ExternalTable table = parseExternalTable("s,x,loss_a,loss_b\n1,2,3,4\n3.5,4,5,6\n", "f");
    const auto import_refused = [&](const std::map<std::string, std::string>& mapping,
                                    const std::string& what) {
        expectError(ErrorKind::usage, what, [&] { importRun(runs.path(), "a", {}, table, mapping); });
    };
    import_refused({}, "counts the steps");
    import_refused({{"step", "s"}}, "it may be loss_a or loss_b");
    import_refused({{"step", "s"}, {"loss", "x"}},
                   "f:3: the step is 3.5 (column \"s\"); a step must be a whole");
    import_refused({{"step", "x"}, {"correct", "s"}},
                   "f:3: correct is 3.5 (column \"s\"), which is not a whole");
    import_refused({{"step", "t"}, {"loss", "x"}}, "no column \"t\" for step; it has s, x, loss_a");
    import_refused({{"step", "s"}, {"lose", "x"}}, "unknown field \"lose\"");
    const ExternalTable clock = parseExternalTable("s,x\n1700000000000000000,2\n", "f");
    expectError(ErrorKind::usage, "Is this the right column?", [&] {
        importRun(runs.path(), "a", {}, clock, {{"step", "s"}, {"loss", "x"}});
    });
    EXPECT_FALSE(std::filesystem::exists(runs / "a"));
}

/// The notes of an import as one text.
std::string said(const ImportedRun& run) {
    std::string text = run.columns + "\n";
    for (const std::string& note : run.notes)
        text += note + "\n";
    return text;
}

ImportedRun imported(const TemporaryFolder& runs, const std::string& text,
                     std::map<std::string, std::string> columns = {}) {
    const ExternalTable table = parseExternalTable(text, "f");
    for (const auto& [field, column] : guessMapping(table))
        columns.emplace(field, column);
    static int number = 0;
    return importRun(runs.path(), "run-" + std::to_string(number++), {}, table, columns);
}

#define EXPECT_SAID(run, what) EXPECT_NE(said(run).find(what), std::string::npos) << said(run)

/// Nothing is invented: columns of the trainer that the file does not have stay empty.
TEST(Import, WhatWasNotMeasuredIsEmpty) {
    const TemporaryFolder runs;
    const ImportedRun run = imported(runs, "step,loss\n10,0.5\n");
    EXPECT_EQ(formatRow(run.folder.metrics().at(0)), "10,,,0.5,,,");
    EXPECT_TRUE(run.notes.empty());
    const ImportedRun solved = imported(runs, "step,correct\n10,3\n");
    EXPECT_FALSE(solved.folder.evaluations().at(0).total);
    EXPECT_FALSE(solved.folder.evaluations()[0].time_s);
    const ImportedRun full = imported(
        runs, "step,loss,grad_norm,learning_rate,tokens,tokens_per_s,time\n10,0.5,1.5,0.001,640,64,10\n");
    EXPECT_EQ(formatRow(full.folder.metrics().at(0)), "10,10,640,0.5,0.001,1.5,64");
}

/// "Wall time" in TensorBoard's CSV is seconds since 1970, not training time.
TEST(Import, AClockCountsFromTheFirstRow) {
    const TemporaryFolder runs;
    const ImportedRun run =
        imported(runs, "Wall time,Step,Value\n1700000000.5,0,3.0\n1700000060.5,10,2.9\n1700000120.5,20,2.8\n",
                 {{"loss", "Value"}});
    std::vector<std::optional<double>> times;
    for (const MetricsRow& row : run.folder.metrics())
        times.push_back(row.time_s);
    EXPECT_EQ(times, (std::vector<std::optional<double>>{0, 60, 120}));
    EXPECT_SAID(run, "\"Wall time\" counts time from 1970");
    const ImportedRun in_ms = imported(runs,
                                       "{\"_step\":1,\"loss\":1,\"_timestamp\":1700000000000}\n{\"_step\":2,"
                                       "\"loss\":1,\"_timestamp\":1700000002500}\n");
    EXPECT_EQ(in_ms.folder.metrics().at(1).time_s, 2.5);
    const ImportedRun relative =
        imported(runs, "_step,loss,_runtime,_timestamp\n1,1,10,1700000000\n2,1,20,1700000010\n");
    EXPECT_EQ(relative.folder.metrics().at(0).time_s, 10);
}

/// As written by a spreadsheet in a locale with decimal commas.
TEST(Import, AColumnThatHoldsNoNumbersIsShown) {
    const TemporaryFolder runs;
    expectError(ErrorKind::usage, "it has step; without numbers: loss (such as 2,5)",
                [&] { imported(runs, "step;loss\n1;2,5\n2;2,4\n"); });
}

TEST(Import, ATensorBoardCsvIsAskedForItsCurve) {
    const TemporaryFolder runs;
    expectError(ErrorKind::usage, "it may be Value",
                [&] { imported(runs, "Wall time,Step,Value\n1,2,3\n"); });
}

/// Resumed from step 30 after step 40: the discarded rows do not count.
TEST(Import, OfAResumedRunTheLaterRowsCount) {
    const TemporaryFolder runs;
    std::string csv = "step,loss,val_loss\n";
    const auto session = [&](int first, int last, double offset) {
        for (int step = first; step <= last; ++step)
            csv += std::to_string(step) + "," + std::to_string(offset - 0.01 * step) + "," +
                   (step == 35 && offset == 3 ? "9"
                    : step == 45              ? "2"
                                              : "") +
                   "\n";
    };
    session(1, 40, 3);
    session(31, 60, 4);
    const ImportedRun run = imported(runs, csv);
    const std::vector<MetricsRow> rows = run.folder.metrics();
    ASSERT_EQ(rows.size(), 60U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].step, static_cast<std::int64_t>(i) + 1);
        EXPECT_NEAR(rows[i].loss, (i < 30 ? 3 : 4) - 0.01 * static_cast<double>(i + 1), 1e-9);
    }
    ASSERT_EQ(run.folder.evaluations().size(), 1U);  // the evaluation at step 35 belongs to discarded weights
    EXPECT_EQ(run.folder.evaluations()[0].step, 45);
    EXPECT_SAID(run, "f:42: the steps go back from 40 to 31");
    EXPECT_SAID(run, "10 rows of the earlier session were replaced");
    // Resumed twice: of steps 20 to 40, only those that the third session did not reach remain.
    csv += "20,1,\n21,1,\n";
    const ImportedRun twice = imported(runs, csv);
    ASSERT_EQ(twice.folder.metrics().size(), 21U);
    EXPECT_EQ(twice.folder.metrics().back().loss, 1);
    EXPECT_SAID(twice, "2 times in total");
}

/// Steps that restart in each epoch look like sessions; the import reports the dropped rows.
TEST(Import, StepsOfAnEpochAreNoSessions) {
    const TemporaryFolder runs;
    std::string csv = "step,loss\n";
    for (int epoch = 0; epoch < 3; ++epoch)
        csv += "1,3\n2,2\n3,1\n";
    EXPECT_SAID(imported(runs, csv), "if its steps restart in each epoch, name the column that counts all");
}

/// If rows of evaluations follow all rows of training, as in two concatenated tables, they are not a second
/// session.
TEST(Import, OtherNumbersOfEarlierStepsAreJoined) {
    const TemporaryFolder runs;
    const ImportedRun run =
        imported(runs, "step,loss,val_loss,lr\n10,1,,\n20,0.5,,\n10,,1.5,\n20,,1.25,\n10,,,0.1\n20,,,0.2\n");
    ASSERT_EQ(run.folder.metrics().size(), 2U);
    EXPECT_EQ(run.folder.metrics()[1].learning_rate, 0.2);
    ASSERT_EQ(run.folder.evaluations().size(), 2U);
    EXPECT_EQ(run.folder.evaluations()[0].loss, 1.5);
    EXPECT_TRUE(run.notes.empty()) << said(run);
}

TEST(Import, ANumberThatIsGivenTwiceIsSaid) {
    const TemporaryFolder runs;
    const ImportedRun run = imported(runs, "step,loss\n1,3\n2,2\n2,1\n3,1\n3,1\n");
    ASSERT_EQ(run.folder.metrics().size(), 3U);
    EXPECT_EQ(run.folder.metrics()[1].loss, 1);
    EXPECT_SAID(run, "loss is repeated with a different value in 1 row, first at step 2");
}

TEST(Import, WhatIsLeftOutIsNamedAndCounted) {
    const TemporaryFolder runs;
    const ImportedRun run = imported(
        runs,
        "{\"step\":1,\"loss\":3,\"epoch\":0.5,\"note\":\"x\"}\n{\"loss\":2}\n{\"step\":2,\"epoch\":1}\n"
        "{\"step\":3,\"lr\":0.1}\n{\"step\":4,\"loss\":\"oops\"}\n{\"step\":5,\"loss\":NaN}\n");
    EXPECT_EQ(run.folder.metrics().size(), 2U);
    EXPECT_SAID(run, "columns: step is \"step\", loss is \"loss\", learning_rate is \"lr\"");
    EXPECT_SAID(run, "not imported: epoch");
    EXPECT_SAID(run, "without numbers: note");
    EXPECT_SAID(run, "1 row has no step and was skipped");
    EXPECT_SAID(run, "2 rows have no number in the imported columns and were skipped");
    EXPECT_SAID(run, "no training loss at 1 step");
    EXPECT_SAID(run,
                "1 cell of \"loss\" contained no number and counts as empty, the first at f:5: \"oops\"");
    EXPECT_SAID(run, "the loss is not finite at 1 step, first at step 5");
}

TEST(Import, LightningsCsvLogger) {
    const TemporaryFolder runs;
    const ImportedRun run = imported(runs,
                                     "epoch,lr-AdamW,step,train_loss_epoch,train_loss_step,val_loss\n"
                                     "0,0.001,9,,,\n0,,9,,2.9,\n0,,19,,2.8,\n0,,19,2.85,,2.6\n");
    ASSERT_EQ(run.folder.metrics().size(), 2U);
    EXPECT_EQ(run.folder.metrics()[0].loss, 2.9);
    EXPECT_EQ(run.folder.metrics()[0].learning_rate, 0.001);
    EXPECT_EQ(run.folder.evaluations().at(0).loss, 2.6);
    EXPECT_SAID(run, "loss is \"train_loss_step\"");
    EXPECT_SAID(run, "not imported: epoch, train_loss_epoch");
}

TEST(Import, ExportsOfWeightsAndBiases) {
    const TemporaryFolder runs;
    const std::string header =
        "\"Step\",\"gull-7 - train/loss\",\"gull-7 - train/loss__MIN\",\"gull-7 - train/loss__MAX\"";
    const ImportedRun run =
        imported(runs, header + "\n\"0\",\"3.0\",\"3.0\",\"3.0\"\n\"1\",\"2.9\",\"2.9\",\"2.9\"\n");
    EXPECT_EQ(run.folder.metrics().size(), 2U);
    EXPECT_SAID(run, "not imported: gull-7 - train/loss__MIN, gull-7 - train/loss__MAX");
    // One of two runs must be chosen.
    expectError(ErrorKind::usage, "it may be gull-7 - train/loss or owl-8 - train/loss",
                [&] { imported(runs, "\"Step\",\"gull-7 - train/loss\",\"owl-8 - train/loss\"\n0,1,2\n"); });
    // W&B's own step count is not the trainer's.
    EXPECT_EQ(
        guessMapping(parseExternalTable("_step,train/global_step,train/loss\n0,10,1\n", "f")).at("step"),
        "train/global_step");
}

TEST(Import, HuggingFacesTrainerState) {
    const TemporaryFolder runs;
    const ImportedRun run = imported(
        runs,
        "{\"global_step\": 20, \"log_history\": [\n"
        "{\"epoch\": 0.5, \"grad_norm\": 1.5, \"learning_rate\": 9e-05, \"loss\": 2.9, \"step\": 10},\n"
        "{\"epoch\": 1.0, \"grad_norm\": 1.25, \"learning_rate\": 8e-05, \"loss\": 2.8, \"step\": 20},\n"
        "{\"epoch\": 1.0, \"eval_loss\": 2.4, \"eval_runtime\": 1.2, \"step\": 20},\n"
        "{\"step\": 20, \"total_flos\": 1e15, \"train_loss\": 2.85, \"train_runtime\": 33.0}]}\n");
    ASSERT_EQ(run.folder.metrics().size(), 2U);
    EXPECT_EQ(run.folder.metrics()[1].loss, 2.8);
    EXPECT_EQ(run.folder.metrics()[1].grad_norm, 1.25);
    EXPECT_EQ(run.folder.evaluations().at(0).loss, 2.4);
    EXPECT_SAID(run, "train_loss");
    EXPECT_SAID(run, "1 row has no number in the imported columns and was skipped");
}

/// LLaMA-Factory's trainer_log.jsonl.
TEST(Import, ALogThatCountsItsCurrentSteps) {
    const TemporaryFolder runs;
    const ImportedRun run =
        imported(runs,
                 "{\"current_steps\": 10, \"total_steps\": 100, \"loss\": 2.9, \"eval_loss\": null, "
                 "\"elapsed_time\": \"0:01:01\", \"remaining_time\": \"0:10:00\"}\n"
                 "{\"current_steps\": 20, \"total_steps\": 100, \"loss\": 2.8, \"eval_loss\": null, "
                 "\"elapsed_time\": \"0:02:02\", \"remaining_time\": \"0:09:00\"}\n");
    ASSERT_EQ(run.folder.metrics().size(), 2U);
    EXPECT_EQ(formatRow(run.folder.metrics()[1]), "20,122,,2.8,,,");
    EXPECT_TRUE(run.folder.evaluations().empty());
    EXPECT_SAID(run, "not imported: remaining_time, total_steps");
    EXPECT_SAID(run, "without numbers: eval_loss");
}

TEST(Import, ALossUnderAnUnknownNameIsAskedFor) {
    const TemporaryFolder runs;
    const ImportedRun run = imported(runs, "step,ce_loss,val_loss\n1,2,3\n");
    EXPECT_TRUE(run.folder.metrics().empty());
    EXPECT_SAID(run, "no training loss is imported");
    EXPECT_SAID(run, "it may be ce_loss");
}

TEST(Import, ARunWhoseMethodNobodySaidIsNoneOfOurs) {
    const TemporaryFolder runs;
    Specification unknown;
    const ExternalTable table = parseExternalTable("step,loss\n1,2\n", "dir/f.csv");
    const RunFolder run = importRun(runs.path(), "theirs", unknown, table, guessMapping(table)).folder;
    EXPECT_EQ(run.specification().methodName(), "imported");
    EXPECT_EQ(run.specification().methodTitle(), "imported");
    EXPECT_EQ(run.specification().about.title, "theirs, imported from f.csv");
    EXPECT_EQ(readFile(run.eventsPath()).find("model.position"), std::string::npos);
}

/// Regression: run.toml and every table showed our defaults for all other settings as if they were the run's.
TEST(Import, OnlyWhatWasSaidIsKnown) {
    const TemporaryFolder runs;
    Specification wanted;
    wanted.model.position = "rope";
    wanted.training.data_seed = 4;
    wanted.training.batch = 7;  // from the form; the user did not state it
    wanted.about.known = "model.position training.data_seed";
    const ExternalTable table = parseExternalTable("step,loss\n10,2\n20,1\n", "f.csv");
    const ImportedRun run = importRun(runs.path(), "theirs", wanted, table, guessMapping(table));
    const std::string written = readFile(run.folder.specificationPath());
    for (const char* key : {"batch", "width", "model_seed", "[device]"})
        EXPECT_EQ(written.find(key), std::string::npos) << key;
    const Specification read = run.folder.specification();
    EXPECT_EQ(toToml(read), written);
    EXPECT_EQ(read.methodName(), "rope");
    EXPECT_EQ(read.training.data_seed, 4);
    EXPECT_EQ(read.training.steps, 20);
    EXPECT_EQ(read.training.batch, Specification().training.batch);
    EXPECT_TRUE(isKnown("training.steps", read));
    EXPECT_FALSE(isKnown("training.batch", read));
    EXPECT_FALSE(seedsAreKnown(read));
    EXPECT_NE(readFile(run.folder.logPath()).find("known settings: model.position, "), std::string::npos);
    EXPECT_EQ(readFile(run.folder.eventsPath()).find("training.batch"), std::string::npos);
    EXPECT_TRUE(run.notes.empty());
    wanted.about.known = "training.steps training.warmup_steps";
    wanted.training.steps = 15;
    wanted.training.warmup_steps = 50;
    const ImportedRun other = importRun(runs.path(), "other", wanted, table, guessMapping(table));
    EXPECT_SAID(other, "training.steps is 20, the last step of the file, not 15");
    EXPECT_EQ(other.folder.specification().training.warmup_steps, 50);
    // What they would train is unknown.
    expectError(ErrorKind::usage, "settings of imported metrics", [&] { requireValid(read, "run.toml"); });
}

/// Python's NaN is replaced without moving the rest of the line each time.
TEST(Import, ALineOfManyNaNsIsReadInTime) {
    std::string line = R"({"step":1,"all":[ NaN)";
    for (int i = 0; i < 1'000'000; ++i)
        line += ", NaN";
    line += "]}";
    EXPECT_TRUE(finishesWithin(10, 1'000'000'000,
                               [&] { EXPECT_EQ(parseExternalTable(line, "f").columns.size(), 1U); }));
}

}  // namespace
}  // namespace roper
