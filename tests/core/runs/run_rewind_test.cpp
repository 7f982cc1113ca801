#include "core/runs/run_rewind.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/runs/run_recorder.h"
#include "core/runs/tensorboard_events.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

MetricsRow rewoundRow(std::int64_t step) {
    MetricsRow row;
    row.step = step;
    row.time_s = 0.5 * static_cast<double>(step);
    row.tokens = 64 * step;
    // Not representable as float32, so events hold a rounded value.
    row.loss = 1.0 / static_cast<double>(1 + step);
    row.learning_rate = 0.001;
    row.grad_norm = 2;
    row.tokens_per_s = 128;
    return row;
}

/// A run with twenty rows and two evaluations.
struct RecordedRun {
    RecordedRun() : run(createRun(runs.path(), "a", specification())) {
        RunRecorder recorder(run);
        for (std::int64_t step = 1; step <= 20; ++step) {
            recorder.record(rewoundRow(step));
            if (step % 10 != 0) continue;
            EvaluationRow row;
            row.step = step;
            row.loss = 0.5;
            recorder.record(row);
        }
    }
    static Specification specification() {
        Specification s;
        s.training.report_every = 1;
        return s;
    }
    std::vector<std::string> lines() const { return split(readFile(run.metricsPath()), '\n'); }
    void setLines(const std::vector<std::string>& lines) const {
        writeFileAtomically(run.metricsPath(), join(lines, "\n"));
    }
    std::vector<std::string> rewind(std::int64_t step) const {
        return rewindRun(run, {step, *rewoundRow(step).tokens, *rewoundRow(step).time_s, 1});
    }

    TemporaryFolder runs;
    RunFolder run;
};

bool says(const std::vector<std::string>& report, const std::string& part) {
    return std::any_of(report.begin(), report.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

void expectSteps(const RunFolder& run, std::int64_t last) {
    const auto rows = run.metrics();
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(last));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const MetricsRow expected = rewoundRow(static_cast<std::int64_t>(i) + 1);
        EXPECT_EQ(rows[i].step, expected.step);
        EXPECT_EQ(rows[i].tokens, expected.tokens);
        EXPECT_NEAR(rows[i].loss, expected.loss, 1e-7);
        EXPECT_NEAR(*rows[i].time_s, *expected.time_s, 1e-9);
        EXPECT_NEAR(*rows[i].learning_rate, *expected.learning_rate, 1e-9);
    }
}

std::vector<std::int64_t> eventSteps(const RunFolder& run) {
    const EventFile file = parseEvents(readFile(run.eventsPath()));
    EXPECT_FALSE(file.damaged);
    std::vector<std::int64_t> steps;
    double time = 0;
    for (const ScalarEvent& event : file.events) {
        steps.push_back(event.step);
        EXPECT_GE(event.wall_time, time);
        time = event.wall_time;
    }
    return steps;
}

const std::vector<std::int64_t> kFifteen = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11, 12, 13, 14, 15};

TEST(Rewind, AWholeRunIsCutWithoutAWord) {
    const RecordedRun recorded;
    EXPECT_TRUE(recorded.rewind(15).empty());
    expectSteps(recorded.run, 15);
    EXPECT_EQ(eventSteps(recorded.run), kFifteen);
    EXPECT_EQ(recorded.run.evaluations().size(), 1U);
}

/// TensorBoard keeps the file open and would not notice a replacement.
TEST(Rewind, EventsAreAppendedTo) {
    const RecordedRun recorded;
    const FilePath path = recorded.run.eventsPath();
    const std::string whole = readFile(path);
    const auto number = [&] {
        struct stat info {};
        EXPECT_EQ(::stat(path.path().c_str(), &info), 0);
        return info.st_ino;
    };
    const auto before = number();
    EXPECT_TRUE(recorded.rewind(15).empty());
    const std::string once = readFile(path);
    EXPECT_TRUE(once.starts_with(whole));
    EXPECT_EQ(once.size(), whole.size() + formatSessionStart(1, 16).size());
    // Once more, with nothing to discard, an incomplete last record, and a row that only metrics.csv has.
    EXPECT_TRUE(recorded.rewind(15).empty());
    EXPECT_EQ(readFile(path), once);
    std::ofstream(path.path(), std::ios::app) << formatEvent(eventOf(rewoundRow(16))).substr(0, 30);
    EXPECT_TRUE(recorded.rewind(15).empty());
    EXPECT_EQ(readFile(path), once);
    auto lines = recorded.lines();
    lines.back() = formatRow(rewoundRow(16));
    lines.emplace_back();
    recorded.setLines(lines);
    EXPECT_TRUE(recorded.rewind(16).empty());
    EXPECT_TRUE(readFile(path).starts_with(once));
    auto expected = kFifteen;
    expected.push_back(16);
    EXPECT_EQ(eventSteps(recorded.run), expected);
    EXPECT_EQ(number(), before);
}

TEST(Rewind, EveryFlippedByteOfTheEventsIsRepaired) {
    const RecordedRun recorded;
    const std::string whole = readFile(recorded.run.eventsPath());
    int said = 0, tried = 0;
    for (std::size_t at = 60; at + 200 < whole.size(); at += 7, ++tried) {
        std::string damaged = whole;
        damaged[at] ^= 0x10;
        writeFileAtomically(recorded.run.eventsPath(), damaged);
        said += says(recorded.rewind(15), "was damaged at byte") ? 1 : 0;
        EXPECT_EQ(eventSteps(recorded.run), kFifteen) << at;
        EXPECT_EQ(readFile(recorded.run.path() / "events.damaged"), damaged);
        EXPECT_EQ(recorded.run.eventsPath().path().extension(), ".roper-lab");
    }
    EXPECT_EQ(said, tried);
    RecordProperty("tried", tried);
}

TEST(Rewind, DoubledRowsGo) {
    const RecordedRun recorded;
    auto lines = recorded.lines();
    lines.insert(lines.begin() + 8, lines.begin() + 3, lines.begin() + 6);
    recorded.setLines(lines);
    EXPECT_TRUE(says(recorded.rewind(15), "3 rows of steps that it already contained"));
    expectSteps(recorded.run, 15);
}

TEST(Rewind, MissingAndUnreadableRowsComeBackFromTheEvents) {
    const RecordedRun recorded;
    auto lines = recorded.lines();
    const std::string nonsense = "9,\x01\x02";
    lines[9] = nonsense;
    lines.erase(lines.begin() + 3, lines.begin() + 6);
    recorded.setLines(lines);
    const auto report = recorded.rewind(15);
    EXPECT_TRUE(says(report, "1 line that could not be read"));
    EXPECT_TRUE(says(report, "metrics.csv lacked 4 rows"));
    expectSteps(recorded.run, 15);
    EXPECT_NE(readFile(recorded.run.metricsPath().string() + ".damaged").find(nonsense), std::string::npos);
}

TEST(Rewind, ARowOfAnEvaluatedStepComesBackToo) {
    const RecordedRun recorded;
    auto lines = recorded.lines();
    lines.erase(lines.begin() + 10);
    recorded.setLines(lines);
    EXPECT_TRUE(says(recorded.rewind(15), "metrics.csv lacked 1 row, which was"));
    expectSteps(recorded.run, 15);
}

TEST(Rewind, ACutEmptiedOrRemovedFileComesBackFromTheEvents) {
    for (const std::size_t kept : {9U, 1U, 0U}) {
        const RecordedRun recorded;
        auto lines = recorded.lines();
        lines.resize(kept);
        if (kept > 0) lines.emplace_back();
        recorded.setLines(lines);
        const std::size_t lost = 15 - (kept == 0 ? 0 : kept - 1);
        EXPECT_TRUE(says(recorded.rewind(15), "metrics.csv lacked " + std::to_string(lost) + " rows"));
        expectSteps(recorded.run, 15);
    }
    const RecordedRun recorded;
    removeFile(recorded.run.metricsPath());
    EXPECT_TRUE(says(recorded.rewind(15), "metrics.csv lacked 15 rows"));
    expectSteps(recorded.run, 15);
}

TEST(Rewind, AnEndThatNothingKnowsIsSaid) {
    const RecordedRun recorded;
    auto lines = recorded.lines();
    lines.resize(9);
    lines.emplace_back();
    recorded.setLines(lines);
    removeFile(recorded.run.eventsPath());
    EXPECT_TRUE(says(recorded.rewind(15), "no rows for steps 9 to 15"));
}

TEST(Rewind, LostEvaluationsAreSaid) {
    const RecordedRun recorded;
    writeFileAtomically(recorded.run.pathOf<EvaluationRow>(), headerLine<EvaluationRow>() + "\n");
    EXPECT_TRUE(says(recorded.rewind(15), "evaluations.csv lacks the evaluation of step 10"));
}

TEST(Rewind, AGapThatNothingFillsIsSaid) {
    const RecordedRun recorded;
    auto lines = recorded.lines();
    lines.erase(lines.begin() + 3, lines.begin() + 8);  // steps 3 to 7
    recorded.setLines(lines);
    removeFile(recorded.run.eventsPath());
    EXPECT_TRUE(says(recorded.rewind(15), "no rows for steps 3 to 7"));
    EXPECT_EQ(recorded.run.metrics().size(), 10U);
}

TEST(Rewind, MegabytesOfZerosAreOneUnreadableLine) {
    const RecordedRun recorded;
    const std::string whole = readFile(recorded.run.metricsPath());
    const std::string zeros(2000000, '\0');
    for (const std::string& damaged : {whole + zeros, whole.substr(0, whole.size() / 2) + zeros}) {
        writeFileAtomically(recorded.run.metricsPath(), damaged);
        EXPECT_TRUE(says(recorded.rewind(15), "1 line that could not be read"));
        expectSteps(recorded.run, 15);
        EXPECT_EQ(readFile(recorded.run.metricsPath().string() + ".damaged"), damaged);
    }
}

TEST(Rewind, AFileThatIsNoneOfRowsStopsIt) {
    const RecordedRun recorded;
    writeFileAtomically(recorded.run.metricsPath(), "a\nb\nc\n");
    expectError(ErrorKind::usage, "metrics.csv:1", [&] { recorded.rewind(15); });
    EXPECT_EQ(readFile(recorded.run.metricsPath()), "a\nb\nc\n");
}

}  // namespace
}  // namespace roper
