#include "core/fields/toml_text.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"

namespace roper {
namespace {

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
