#include "core/tour/tour.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/tour/implementations.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

std::string tourWith(const std::string& stop, const std::string& about = "A test.") {
    return "title = \"T\"\nabout = \"" + about + "\"\nminutes = 3\n[[stop]]\n" + stop;
}

constexpr auto kStop = R"(name = "first"
title = "First"
page = "rotation"
setup = { head_dim = 8, base = 500.5, causal = false }
view = { rotation = 1 }
predict = "Which?"
choices = ["this", "that", "other"]
answer = 3
try = "Do it."
control = "Base b"
reveal = "Because."
takeaway = "So."
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
    return text;
}

TEST(Tour, IsReadAsWritten) {
    const Tour tour = parseTour(tourWith(kStop), "courses/bases.toml");
    EXPECT_EQ(tour.name, "bases");
    EXPECT_EQ(tour.title, "T");
    EXPECT_EQ(tour.minutes, 3);
    ASSERT_EQ(tour.stops.size(), 1U);
    const TourStop& stop = tour.stops[0];
    EXPECT_EQ(stop.name, "first");
    EXPECT_EQ(stop.page, "rotation");
    EXPECT_EQ(stop.view, (ViewSettings{{"view.rotation", "1"}}));
    EXPECT_EQ(stop.choices, (std::vector<std::string>{"this", "that", "other"}));
    EXPECT_EQ(stop.answer, 2U);
    EXPECT_EQ(stop.task, "Do it.");
    EXPECT_EQ(stop.control, "Base b");
    EXPECT_EQ(stop.setup().head_dim, 8);
    EXPECT_EQ(stop.setup().base, 500.5);
    EXPECT_FALSE(stop.setup().causal);
    EXPECT_EQ(stop.setup().pairing, roper::Setup{}.pairing);
}

TEST(Tour, EndsWithACardIfThereIsOne) {
    EXPECT_FALSE(parseTour(tourWith(kStop), "t.toml").end);
    const std::string card = "[end]\ntext = \"E\"\n[[end.next]]\ntext = \"N\"\npage = \"compare\"\n";
    const Tour tour = parseTour(tourWith(kStop) + card, "t.toml");
    ASSERT_TRUE(tour.end);
    EXPECT_EQ(tour.end->text, "E");
    ASSERT_EQ(tour.end->next.size(), 1U);
    EXPECT_EQ(tour.end->next[0].page, "compare");
    expectError(ErrorKind::usage, "\"text\" is missing",
                [&] { parseTour(tourWith(kStop) + replaced(card, "text = \"E\"\n", ""), "t.toml"); });
    expectError(ErrorKind::usage, "\"pages\" is not a known key",
                [&] { parseTour(tourWith(kStop) + card + "pages = 1\n", "t.toml"); });
    ASSERT_TRUE(bundledTour().end);
    EXPECT_EQ(bundledTour().model, "");
    EXPECT_EQ(bundledTour("inside-a-model").model, "SmolLM2-135M-Instruct");
}

TEST(Tour, WhatIsWrongIsNamedWithItsPlace) {
    const auto expect = [](const std::string& text, const std::string& place, const std::string& says) {
        try {
            parseTour(text, "t.toml");
            ADD_FAILURE() << "was taken: " << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_EQ(std::string(error.what()).rfind(place, 0), 0U) << error.what();
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    };
    const std::string stop = kStop;
    const auto with = [&](const std::string& what, const std::string& by) {
        return tourWith(replaced(stop, what, by));
    };
    expect(with("title = \"First\"\n", ""), "t.toml:4:", "\"title\" is missing");
    expect(with("takeaway", "take_away"), "t.toml:4:", "\"takeaway\" is missing");
    expect(tourWith(stop + "hint = \"x\"\n"), "t.toml:17:", "\"hint\" is not a known key");
    expect(tourWith(stop + "contro = \"x\"\n"), "t.toml:17:", "did you mean \"control\"?");
    expect(with("answer = 3", "answer = 4"), "t.toml:12:", "from 1 to 3");
    expect(with("[\"this\", \"that\", \"other\"]", "[\"this\"]"), "t.toml:11:", "a list of 2 to 4 strings");
    expect(with("\"this\"", "7"), "t.toml:11:", "a list of 2 to 4 strings");
    expect(with("\"first\"", "\"First stop\""), "t.toml:4:", "lowercase letters");
    expect(with("head_dim = 8", "head_dim = 9999"), "t.toml:4:", "stop \"first\": head_dim");
    expect(with("head_dim", "head_dims"), "t.toml:4:", "head_dim");
    expect(with("{ rotation = 1 }", "[1]"), "t.toml:9:", "must be a table");
    expect(with("\"Do it.\"", "\"  \""), "t.toml:13:", "must be non-empty text");
    expect(tourWith(stop + "[[stop]]\n" + stop), "t.toml:17:", "two stops are named \"first\"");
    expect("title = \"T\"\nabout = \"A\"\nminutes = 3\n", "t.toml:1:", "[[stop]]");
    expect(replaced(tourWith(stop), "minutes = 3", "minutes = 3.5"), "t.toml:3:", "whole number");
    expect("title = ", "t.toml:1:", "");
}

TEST(Tour, TheBundledOneIsWholeAndShort) {
    const Tour tour = bundledTour();
    EXPECT_EQ(tour.name, "rope-to-roper");
    EXPECT_GE(tour.stops.size(), 8U);
    EXPECT_LE(tour.stops.size(), 11U);
    std::set<std::size_t> answers;
    for (const TourStop& stop : tour.stops) {
        answers.insert(stop.answer);
        EXPECT_FALSE(stop.control.empty()) << stop.name;
        // Short texts, because the panel is narrow.
        EXPECT_LE(stop.question.size(), 420U) << stop.name;
        EXPECT_LE(stop.reveal.size(), 480U) << stop.name;
        EXPECT_LE(stop.takeaway.size(), 140U) << stop.name;
        for (const std::string& text : {stop.question, stop.task, stop.reveal, stop.takeaway})
            EXPECT_EQ(text.find("  "), std::string::npos) << stop.name << ": " << text;
    }
    EXPECT_GT(answers.size(), 1U) << "the right answer is always the same one";
}

TEST(Tour, IsReadFromARegularFile) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "tour.toml").c_str(), 0600), 0);
    expectError(ErrorKind::disk, ", not a file", [&] { readTour(folder / "tour.toml"); });
}

using ASetup = Setup;  // inside a test, Setup means a type of GoogleTest

constexpr auto kRow = R"([[implementation]]
name = "library"
version = "1.0"
year = 2024
pairing = "neighbors"
part = "last 64 of 512"
back = "never"
grouped = "one head for all"
cache = "none"
scaling = "none"
checked = "run"
source = "a paper"
script = "script.sh"
setup = { head_dim = 512, rotary_fraction = 0.125, rotated_part = "last" }
)";

std::string rowWith(const std::string& what, const std::string& by) {
    std::string text = kRow;
    text.replace(text.find(what), what.size(), by);
    return text;
}

TEST(Implementations, AreReadAsWritten) {
    const std::vector<Implementation> read = parseImplementations(kRow, "file.toml");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].name, "library");
    EXPECT_EQ(read[0].year, 2024);
    EXPECT_EQ(read[0].back, "never");
    EXPECT_EQ(read[0].shared_keys, "one head for all");
    EXPECT_TRUE(read[0].was_run);
}

TEST(Implementations, ReplaceTheRotationAndKeepTheRest) {
    ASetup before;
    before.base = 77;
    before.method = "alibi";
    before.query = 5;
    before.seed = 9;
    before.mistake = Mistake::values_twice;
    const Implementation read = parseImplementations(kRow, "file.toml")[0];
    ASetup after = read.applyTo(before);
    EXPECT_FALSE(read.isShownBy(before));
    EXPECT_TRUE(read.isShownBy(after));
    EXPECT_EQ(after.head_dim, 512);
    EXPECT_EQ(after.base, 10000);
    EXPECT_EQ(after.firstRotated(), 448);
    EXPECT_EQ(after.method, "roper");
    EXPECT_EQ(after.mistake, Mistake::no_inverse);
    EXPECT_EQ(after.query, 5);
    EXPECT_EQ(after.seed, 9U);
    after.mistake = Mistake::none;
    EXPECT_FALSE(read.isShownBy(after));
    EXPECT_EQ(parseImplementations(rowWith("never", "twice"), "f")[0].applyTo(before).mistake,
              Mistake::values_twice);
    EXPECT_EQ(parseImplementations(rowWith("never", "yes"), "f")[0].applyTo(before).mistake, Mistake::none);
}

TEST(Implementations, ErrorsNameTheRowAndTheReason) {
    const auto expect = [](const std::string& what, const std::string& by, const std::string& says) {
        expectError(ErrorKind::usage, says, [&] { parseImplementations(rowWith(what, by), "file.toml"); });
    };
    expect("\"never\"", "\"perhaps\"", "\"back\" must be never, yes, twice, not \"perhaps\"");
    expect("\"last\"", "\"middle\"", "\"library\"");
    expect("cache =", "cash =", "\"cache\" is missing");
    expect("source =", "hue = 1\nsource =", "\"hue\" is not a known key");
}

TEST(Implementations, TheBundledOnesCanBeShown) {
    const std::vector<Implementation> all = bundledImplementations();
    int shown = 0;
    for (const Implementation& one : all)
        if (!one.settings.empty()) ++shown;
    EXPECT_GE(all.size(), 15U);
    EXPECT_GE(shown, 11);
    const auto deepseek = std::find_if(all.begin(), all.end(), [](const Implementation& one) {
        return one.name == "DeepSeek V4, transformers";
    });
    ASSERT_NE(deepseek, all.end());
    const ASetup setup = deepseek->applyTo({});
    EXPECT_EQ(setup.rotary().rotatedWidth(), 64);
    EXPECT_EQ(setup.rotary().first, 448);
    EXPECT_EQ(setup.pairing, Pairing::interleaved);
    EXPECT_EQ(setup.mistake, Mistake::none);
    EXPECT_TRUE(setup.shared_key_value);
}

}  // namespace
}  // namespace roper
