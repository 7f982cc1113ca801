#include "core/fields/field.h"

#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <optional>

#include "core/fields/declared_settings.h"
#include "core/fields/toml_text.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"

namespace roper {
namespace {

enum class Shape { round, square };

struct Thing {
    int count = 3;
    double size = 0.5;
    bool loud = false;
    std::string name = "a";
    Shape shape = Shape::round;
    std::optional<std::int64_t> step;
};

const std::vector<Field<Thing>>& fields() {
    static const std::vector<Field<Thing>> all = {
        field<Thing>({"a", "count", "things", "", IntegerRange{1, 5}, {"a.number"}}, &Thing::count),
        field<Thing>({"a", "size", "", "", RealRange{0, 2}}, &Thing::size),
        field<Thing>({"a", "loud", "", "", Flag()}, &Thing::loud),
        field<Thing>({"b", "name", "", "", AnyText{4}}, &Thing::name),
        field<Thing>({"b", "shape", "", "", Choice{{"round", "square"}, {{"circle", "round"}}}},
                     &Thing::shape),
        optionalField<Thing>({"b", "step", "", "", IntegerRange{0, 9}}, memberAt<Thing>(&Thing::step)),
        field<Thing>({"b", "size", "", "", RealRange{0, 2}}, &Thing::size)};
    return all;
}

void set(Thing& thing, const std::string& key, const std::string& text) {
    findField(fields(), key).set(thing, text);
}

TEST(Field, WritesWhatItReads) {
    Thing thing;
    for (const auto& [key, text] : {std::pair{"count", "5"},
                                    {"a.size", "1.25"},
                                    {"loud", "1"},
                                    {"name", "abc"},
                                    {"shape", "square"},
                                    {"step", "7"}}) {
        set(thing, key, text);
        EXPECT_EQ(findField(fields(), key).text(thing), text);
    }
    EXPECT_EQ(thing.count, 5);
    EXPECT_EQ(thing.shape, Shape::square);
    EXPECT_EQ(thing.step, 7);
    EXPECT_EQ(findField(fields(), "step").text(Thing{}), "");
}

TEST(Field, RefusesWhatItDoesNotAcceptAndLeavesTheValue) {
    Thing thing;
    const auto refused = [&](const char* key, const char* text, const char* part) {
        expectError(ErrorKind::usage, part, [&] { set(thing, key, text); });
    };
    refused("count", "6", "a.count must be a whole number from 1 to 5 (things), not \"6\"");
    refused("count", "1.5", "a whole number");
    refused("a.size", "nan", "a number from 0 to 2");
    refused("a.size", "2.1", "a number from 0 to 2");
    refused("loud", "2", "0 or 1");
    refused("name", "abcde", "at most 4 bytes");
    refused("shape", "sqare", "did you mean square?");
    EXPECT_EQ(thing.count, 3);
    EXPECT_EQ(thing.name, "a");
}

TEST(Field, IsFoundByKeyByNameAndByFormerNames) {
    EXPECT_EQ(findField(fields(), "a.count").name, "count");
    EXPECT_EQ(findField(fields(), "number").name, "count");
    EXPECT_EQ(findField(fields(), "a.number").name, "count");
    expectError(ErrorKind::usage, "in several sections", [] { findField(fields(), "size"); });
    expectError(ErrorKind::usage, "did you mean \"count\"?", [] { findField(fields(), "cuont"); });
    Thing thing;
    set(thing, "shape", "circle");
    EXPECT_EQ(findField(fields(), "shape").text(thing), "round");
}

TEST(Field, IsGivenOnceUnderWhateverName) {
    Thing thing;
    applySettings(fields(), thing, {{"number", "2"}, {"name", "x"}});
    EXPECT_EQ(thing.count, 2);
    expectError(ErrorKind::usage, "given twice", [&] {
        applySettings(fields(), thing, {{"name", "x"}, {"name", "y"}});
    });
    expectError(ErrorKind::usage, "two names of one field", [&] {
        applySettings(fields(), thing, {{"number", "2"}, {"count", "3"}});
    });
}

TEST(Field, ClampsNumbersIntoTheirRange) {
    Thing thing;
    thing.count = 99;
    thing.size = std::nan("");
    for (const Field<Thing>& one : fields())
        if (one.clamp) one.clamp(thing);
    EXPECT_EQ(thing.count, 5);
    EXPECT_EQ(thing.size, 0);
    thing.size = std::numeric_limits<double>::infinity();
    findField(fields(), "a.size").clamp(thing);
    EXPECT_EQ(thing.size, 2);
}

TEST(DeclaredSettings, HaveTheirUsualValueUntilTheyAreSet) {
    static const std::vector<DeclaredSetting> declarations = {integerSetting("digits", "", "", {1, 18}, 3),
                                                              realSetting("share", "", "", {0, 1}, 0.5),
                                                              textSetting("text", "", "")};
    DeclaredSettings settings(declarations);
    EXPECT_EQ(settings.integer("digits"), 3);
    settings.set("digits", 5);
    settings.set("text", "x");
    EXPECT_EQ(settings.integer("digits"), 5);
    EXPECT_EQ(settings.text("text"), "x");
    EXPECT_EQ(settings.real("share"), 0.5);
    EXPECT_THROW(settings.integer("digit"), std::logic_error);
    EXPECT_THROW(settings.set("digits", 0.5), std::logic_error);
    settings.reset();
    EXPECT_EQ(settings.integer("digits"), 3);
}

/// Its values would take forty times as much memory as the text.
TEST(TomlText, ALongTextIsRefusedBeforeItIsParsed) {
    std::string text = "a = [";
    while (text.size() < 60'000'000)
        text += "0,";
    text += "]";
    EXPECT_TRUE(finishesWithin(10, 100'000'000, [&] {
        expectError(ErrorKind::usage, "run.toml is larger than 8 MB", [&] { parseToml(text, "run.toml"); });
    }));
}

TEST(TomlText, QuotedTextControlsNoTerminalAndReadsBack) {
    const std::string text =
        "a\x1b[2J\n\tb\xc2\x9b"
        "31m\xe2\x80\xae é \"c\" \\u0041 \x7f";
    const std::string quoted = quotedToml(text);
    for (const char* control : {"\x1b", "\n", "\xc2\x9b", "\xe2\x80\xae", "\x7f"})
        EXPECT_EQ(quoted.find(control), std::string::npos) << quoted;
    EXPECT_EQ(parseToml("text = " + quoted, "t")["text"].value<std::string>(), text);
}

}  // namespace

}  // namespace roper
