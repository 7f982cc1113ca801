#include "core/tour/implementations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect_error.h"

namespace roper {
namespace {

using ASetup = Setup;  // inside a test, Setup means a type of GoogleTest

constexpr auto kRow = R"([[implementation]]
name = "library"
version = "1.0"
year = 2024
pairing = "neighbours"
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
    const ASetup after = parseImplementations(kRow, "file.toml")[0].applyTo(before);
    EXPECT_EQ(after.head_dim, 512);
    EXPECT_EQ(after.base, 10000);
    EXPECT_EQ(after.firstRotated(), 448);
    EXPECT_EQ(after.method, "roper");
    EXPECT_EQ(after.mistake, Mistake::no_inverse);
    EXPECT_EQ(after.query, 5);
    EXPECT_EQ(after.seed, 9U);
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
