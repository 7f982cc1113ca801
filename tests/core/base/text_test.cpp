#include "core/base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <iostream>
#include <limits>

#include "core/base/console.h"
#include "core/base/cryptography.h"
#include "tests/support/limited_process.h"

namespace roper {
namespace {

TEST(Text, WhatControlsATerminalBecomesBlank) {
    EXPECT_EQ(toSingleLine("a\x1b[2Jb\r\nc\td\x7f"), "a [2Jb  c d ");
    EXPECT_EQ(replaceControlCharacters("a\x1b[2Jb\r\nc\td"), "a [2Jb \nc\td");
    EXPECT_EQ(toSingleLine("\xc2\x9b"
                           "31m"),
              " 31m");  // CSI as a single C1 control character
    EXPECT_EQ(toSingleLine("a\xe2\x80\xae"
                           "b\xe2\x81\xa6"
                           "c\xe2\x80\xa8"
                           "d"),
              "a b c d");  // bidirectional control, line separator
    EXPECT_EQ(toSingleLine("θ_i = b^(−2i/d) 模型 é"), "θ_i = b^(−2i/d) 模型 é");
    EXPECT_EQ(toSingleLine("\xff\xc3(\xed\xa0\x80"),
              "??"
              "(???");
    EXPECT_EQ(toSingleLine(std::string("a\0b", 3)), "a b");
}

RC_GTEST_PROP(Text, OneLineIsAlwaysCleanText, (const std::string& text)) {
    const std::string line = toSingleLine(text);
    RC_ASSERT(findInvalidUtf8(line) == std::string::npos);
    for (const char c : line)
        RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    RC_ASSERT(toSingleLine(line) == line);
}

TEST(Text, SizesHaveThreeDigits) {
    EXPECT_EQ(formatBytes(0), "0 bytes");
    EXPECT_EQ(formatBytes(195e6), "195 MB");
    EXPECT_EQ(formatBytes(1.234e12), "1.23 TB");
    EXPECT_EQ(formatBytes(999.6), "1 kB");
}

TEST(Text, ControlsAreEscapedAsJsonHasThem) {
    EXPECT_EQ(escapeControlCharacters("{\n\t\"a\": \"\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8é模\xff\"}"),
              "{\n\t\"a\": \"\\u001b[2J\\u007f\\u009b\\u202e\\u2028é模?\"}");
}

TEST(Text, ACharacterThatHasNotComeWholeIsKnown) {
    EXPECT_EQ(completeUtf8Length(""), 0U);
    EXPECT_EQ(completeUtf8Length("aé"), 3U);
    EXPECT_EQ(completeUtf8Length("a\xc2"), 1U);
    EXPECT_EQ(completeUtf8Length("a\xe2\x80"), 1U);
    EXPECT_EQ(completeUtf8Length("a\xf0\x9f\x98"), 1U);
    EXPECT_EQ(completeUtf8Length("a\x80\x80\x80\x80"), 5U);  // invalid UTF-8: no more bytes to wait for
    EXPECT_EQ(completeUtf8Length("a\xff"), 2U);
}

/// A key of eight megabytes has no near name, and this must be decided without comparing letters.
TEST(Text, ALongWordIsNotCompared) {
    const std::string word(8'000'000, 'x');
    const std::vector<std::string> names(100, "a name of twenty letters");
    EXPECT_TRUE(finishesWithin(10, 1'000'000'000, [&] { EXPECT_FALSE(closestName(word, names)); }));
}

TEST(Text, IntegersEndWhereNumbersDo) {
    EXPECT_EQ(parseIntegers("0-2,7"), (std::vector<std::int64_t>{0, 1, 2, 7}));
    EXPECT_EQ(parseIntegers("9223372036854775807"),
              (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}));
    EXPECT_EQ(parseIntegers("9223372036854775806-9223372036854775807")->size(), 2U);
    EXPECT_EQ(parseIntegers("0-9999")->size(), 10000U);
    for (const char* text :
         {"0-10000", "0-9999,1", "0-9223372036854775807", "9223372036854775808", "2-1", "-1", "", "1,"})
        EXPECT_FALSE(parseIntegers(text)) << text;
}

TEST(Console, WhatIsWrittenControlsNoTerminal) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    {
        const TerminalOutputFilter clean;
        std::cout << "plain\n\ta\x1b[2Jé";
        std::cout << '\xc2' << std::flush << '\x9b' << "b\xe2\x80"
                  << "\xae"
                  << "c" << 5 << std::endl;
        std::cerr << "name\x9b"
                  << "31m";
        terminal() << "\r\x1b[Kbar";
        std::cout << "cut \xe2\x80";
    }
    std::cout << "\x1b";
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "plain\n\ta [2Jé b c5\ncut ??\x1b");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "name?31m\r\x1b[Kbar");
}

TEST(Cryptography, HashesAsTheStandardSays) {
    // FIPS 180-2, appendix B.1, and the hash of an empty text.
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Cryptography, KeysAreNotTheSameTwice) {
    EXPECT_EQ(randomKey().size(), 64U);
    EXPECT_NE(randomKey(), randomKey());
}

TEST(Cryptography, ACodeIsOfOneKeyAndOneText) {
    const std::string key = randomKey(), code = authenticationCode(key, "text");
    EXPECT_EQ(code.size(), 32U);
    EXPECT_TRUE(isAuthentic(key, "text", code));
    EXPECT_FALSE(isAuthentic(key, "texts", code));
    EXPECT_FALSE(isAuthentic(randomKey(), "text", code));
    EXPECT_FALSE(isAuthentic(key, "text", code.substr(1)));
    EXPECT_FALSE(isAuthentic(key, "text", ""));
}

}  // namespace

}  // namespace roper
