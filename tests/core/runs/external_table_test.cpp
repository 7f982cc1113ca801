#include "core/runs/external_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/runs/metrics_import.h"
#include "core/runs/tensorboard_events.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The numbers of a column, with −1 for missing ones.
std::vector<double> numbersOf(const ExternalTable& table, const std::string& column) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), column);
    if (found == table.columns.end()) return {};
    std::vector<double> numbers;
    table.forEachRow(
        {static_cast<std::size_t>(found - table.columns.begin())},
        [&](const ExternalTable::Row& row, std::size_t) { numbers.push_back(row[0].value_or(-1)); });
    return numbers;
}

void expectNumbers(const ExternalTable& table, const std::string& column,
                   const std::vector<double>& expected) {
    const std::vector<double> numbers = numbersOf(table, column);
    ASSERT_EQ(numbers.size(), expected.size()) << column;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        EXPECT_TRUE(numbers[i] == expected[i] || (std::isnan(numbers[i]) && std::isnan(expected[i])))
            << column << " " << i << ": " << numbers[i];
}

/// A diverged run as written by Python's json, by W&B, and as CSV.
TEST(ExternalTable, NotANumberStaysOne) {
    const double nan = std::nan("");
    expectNumbers(parseExternalTable("{\"step\": 1, \"loss\": NaN}\n{\"step\": 2, \"loss\":-Infinity}\n"
                                     "{\"step\": 3, \"loss\": Infinity}\n",
                                     "f"),
                  "loss", {nan, -kInfinity, kInfinity});
    expectNumbers(
        parseExternalTable("{\"_step\":1,\"loss\":\"NaN\"}\n{\"_step\":2,\"loss\":\"Infinity\"}\n", "f"),
        "loss", {nan, kInfinity});
    expectNumbers(parseExternalTable("step,loss\n1,NaN\n2,-inf\n", "f"), "loss", {nan, -kInfinity});
    expectNumbers(parseExternalTable("[{\"step\":1,\"loss\":NaN}]", "f"), "loss", {nan});
}

TEST(ExternalTable, AListThatBeginsWithNaNIsNoNumberAndSaid) {
    const ExternalTable table = parseExternalTable(
        "{\"step\":1,\"loss\":3.0}\n{\"step\":2,\"loss\":[NaN,1]}\n"
        "{\"step\":3,\"loss\":2.0,\"note\":\"is NaN, \\\" NaN not\"}\n",
        "f");
    expectNumbers(table, "loss", {3, -1, 2});
    EXPECT_EQ(table.non_numeric, 1U);
    EXPECT_EQ(table.non_numeric_in[0].first, 2U);
    EXPECT_EQ(table.texts, std::vector<std::string>{"note"});
}

TEST(ExternalTable, NumbersAndDurationsWrittenAsText) {
    const ExternalTable table = parseExternalTable(
        "{\"step\": \"10\", \"elapsed_time\": \"0:01:30\"}\n"
        "{\"step\": \"20\", \"elapsed_time\": \"1 day, 2:00:00.5\"}\n{\"step\": \"x\", \"elapsed_time\": "
        "\"1:70:00\"}\n",
        "f");
    expectNumbers(table, "step", {10, 20, -1});
    expectNumbers(table, "elapsed_time", {90, 93600.5, -1});
}

TEST(ExternalTable, AnArrayOfObjects) {
    const ExternalTable table = parseExternalTable(
        "[\n {\n  \"step\": 1,\n  \"loss\": 2.9\n },\n {\"step\": 2, \"loss\": 2.8}\n]", "f");
    EXPECT_EQ(table.row_count, 2U);
    expectNumbers(table, "loss", {2.9, 2.8});
    std::vector<std::size_t> places;
    table.forEachRow({0}, [&](const ExternalTable::Row&, std::size_t at) { places.push_back(at); });
    EXPECT_EQ(places, (std::vector<std::size_t>{2, 6}));
}

/// Compact JSON is a single line of any length.
TEST(ExternalTable, AnArrayOnOneLongLine) {
    const TemporaryFolder runs;
    std::string text = "[";
    for (int step = 0; step < 60'000; ++step)
        text += (step > 0 ? ",{\"step\":" : "{\"step\":") + std::to_string(step) + ",\"loss\":0.5}";
    text += "]";
    ASSERT_GT(text.size(), std::size_t{1} << 20U);
    writeFileAtomically(runs / "a.json", text);
    EXPECT_EQ(readExternalTable(runs / "a.json").row_count, 60'000U);
}

TEST(ExternalTable, TheHistoryOfATrainerState) {
    const std::string state =
        "{\n \"best_metric\": null, \"trial\": [{\"step\": 7}], \"global_step\": 20,\n \"log_history\": [\n"
        "  {\"step\": 10, \"loss\": 2.9, \"grad_norm\": NaN},\n  {\"step\": 20, \"loss\": 2.8}\n ],\n"
        " \"stateful\": {\"args\": [{\"step\": 9}]}, \"max_steps\": 100\n}\n";
    std::string on_one_line = state;
    std::erase(on_one_line, '\n');
    for (const std::string& text : {state, on_one_line}) {
        const ExternalTable table = parseExternalTable(text, "f");
        expectNumbers(table, "step", {10, 20});
        expectNumbers(table, "grad_norm", {std::nan(""), -1});
    }
}

std::string field(int number, int wire, const std::string& content) {
    std::string bytes(1, static_cast<char>(number << 3 | wire));
    if (wire == 2) bytes += static_cast<char>(content.size());
    return bytes + content;
}

template <class Number>
std::string bytesOf(Number value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::string recordOf(const std::string& event) {
    const auto masked = [](const std::string& bytes) {
        const std::uint32_t crc = crc32c(bytes);
        return bytesOf((crc >> 15U | crc << 17U) + 0xa282ead8U);
    };
    const std::string length = bytesOf<std::uint64_t>(event.size());
    return length + masked(length) + event + masked(event);
}

/// An event with one value of summary.proto.
std::string tensorEvent(char step, const std::string& tag, const std::string& tensor,
                        const std::string& plugin = "") {
    std::string value = field(1, 2, tag) + field(8, 2, tensor);
    if (!plugin.empty()) value += field(9, 2, field(1, 2, field(1, 2, plugin)));
    return recordOf(field(1, 1, bytesOf(1700000000.0 + step)) + field(2, 0, std::string(1, step)) +
                    field(5, 2, field(1, 2, value)));
}

/// Scalars as written by TensorFlow 2, in every type and in both encodings of the element.
TEST(ExternalTable, EventsOfTensorBoard) {
    const std::string no_dimensions = field(2, 2, "");
    const auto type = [](char number) { return field(1, 0, std::string(1, number)); };
    const std::string file =
        formatEventFileStart(1, Specification{}) + formatEvent({1700000001, 1, {{"loss", 0.5}}}) +
        tensorEvent(2, "loss", type(1) + no_dimensions + field(5, 2, bytesOf(0.25F)), "scalars") +
        tensorEvent(3, "loss", type(1) + no_dimensions + field(4, 2, bytesOf(0.125F))) +
        tensorEvent(4, "loss", type(2) + field(6, 1, bytesOf(0.1))) +
        tensorEvent(5, "loss", type(9) + field(10, 2, "\x07")) +
        tensorEvent(6, "loss", type(14) + field(4, 2, std::string("\xc0\x3f"))) +
        tensorEvent(7, "loss", type(19) + field(4, 2, std::string("\x00\x3e", 2))) +
        tensorEvent(8, "loss", type(1) + no_dimensions, "scalars") +
        tensorEvent(9, "images", type(7) + field(8, 2, "text"), "images") +
        tensorEvent(10, "histogram",
                    type(1) + field(2, 2, field(2, 2, field(1, 0, "\x02"))) +
                        field(4, 2, bytesOf(1.0) /* two floats */)) +
        tensorEvent(11, "_hparams_", type(1) + no_dimensions + field(5, 2, bytesOf(1.0F)), "hparams");
    const ExternalTable table = parseExternalTable(file, "events");
    EXPECT_EQ(table.columns, (std::vector<std::string>{"Step", "Wall time", "loss"}));
    expectNumbers(table, "Step", {1, 2, 3, 4, 5, 6, 7, 8});
    expectNumbers(table, "loss", {0.5, 0.25, 0.125, 0.1, 7, 1.5, 1.5, 0});
}

/// A resumed run has one file for each session.
TEST(ExternalTable, AFolderOfEvents) {
    const TemporaryFolder runs;
    writeFileAtomically(runs / "events.out.tfevents.2.host",
                        formatEvent({1700000300, 3, {{"train/loss", 0.25}}}) +
                            formatEvent({1700000400, 4, {{"train/loss", 0.125}}}));
    writeFileAtomically(runs / "events.out.tfevents.1.host",
                        formatEvent({1700000000, 1, {{"train/loss", 1}}}) +
                            formatEvent({1700000000, 3, {{"train/loss", 0.5}}}) +
                            formatEvent({1700000060, 4, {{"train/loss", 0.5}}}));
    const ExternalTable table = readExternalTable(runs.path());
    expectNumbers(table, "Step", {1, 3, 4, 3, 4});
    const ImportedRun run = importRun(runs / "runs", "a", {}, table, guessMapping(table));
    ASSERT_EQ(run.folder.metrics().size(), 3U);
    EXPECT_EQ(run.folder.metrics()[1].loss, 0.25);
    EXPECT_EQ(run.folder.metrics()[1].time_s, 300);
    expectNumbers(readExternalTable(runs / "events.out.tfevents.2.host"), "train/loss", {0.25, 0.125});
}

/// Some scalars have the names of fields that every event has.
TEST(ExternalTable, TheStepOfAnEventIsItsOwn) {
    const ExternalTable table =
        parseExternalTable(formatEvent({1, 5, {{"Step", 0.5}, {"train/global_step", 1}, {"loss", 2}}}), "f");
    expectNumbers(table, "Step", {5});
    expectNumbers(table, "scalar Step", {0.5});
    EXPECT_EQ(guessMapping(table).at("step"), "Step");
}

TEST(ExternalTable, DamagedEventsAreSaid) {
    const TemporaryFolder runs;
    std::string file = formatEvent({1, 1, {{"loss", 1}}}) + formatEvent({2, 2, {{"loss", 2}}}) +
                       formatEvent({3, 3, {{"loss", 3}}});
    file[file.size() / 2] ^= 1;
    writeFileAtomically(runs / "events", file);
    const ExternalTable table = readExternalTable(runs / "events");
    EXPECT_EQ(table.row_count, 2U);
    ASSERT_EQ(table.notes.size(), 1U);
    EXPECT_NE(table.notes[0].find("is damaged at byte"), std::string::npos);
}

}  // namespace
}  // namespace roper
