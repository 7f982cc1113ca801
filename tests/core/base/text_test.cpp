#include "core/base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace roper {
namespace {

TEST(Text, WhatControlsATerminalBecomesBlank) {
    EXPECT_EQ(onOneLine("a\x1b[2Jb\r\nc\td\x7f"), "a [2Jb  c d ");
    EXPECT_EQ(withoutControls("a\x1b[2Jb\r\nc\td"), "a [2Jb \nc\td");
    EXPECT_EQ(onOneLine("\xc2\x9b"
                        "31m"),
              " 31m");  // CSI as one C1 control
    EXPECT_EQ(onOneLine("a\xe2\x80\xae"
                        "b\xe2\x81\xa6"
                        "c\xe2\x80\xa8"
                        "d"),
              "a b c d");  // direction, line end
    EXPECT_EQ(onOneLine("θ_i = b^(−2i/d) 模型 é"), "θ_i = b^(−2i/d) 模型 é");
    EXPECT_EQ(onOneLine("\xff\xc3(\xed\xa0\x80"),
              "??"
              "(???");
    EXPECT_EQ(onOneLine(std::string("a\0b", 3)), "a b");
}

RC_GTEST_PROP(Text, OneLineIsAlwaysCleanText, (const std::string& text)) {
    const std::string line = onOneLine(text);
    RC_ASSERT(firstNotUtf8(line) == std::string::npos);
    for (const char c : line)
        RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    RC_ASSERT(onOneLine(line) == line);
}

TEST(Text, SizesHaveThreeDigits) {
    EXPECT_EQ(bytesText(0), "0 bytes");
    EXPECT_EQ(bytesText(195e6), "195 MB");
    EXPECT_EQ(bytesText(1.234e12), "1.23 TB");
    EXPECT_EQ(bytesText(999.6), "1 kB");
}

}  // namespace
}  // namespace roper
