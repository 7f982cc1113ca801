#include "core/base/console.h"

#include <gtest/gtest.h>

#include <iostream>

namespace roper {
namespace {

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

}  // namespace
}  // namespace roper
