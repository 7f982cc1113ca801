#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"

namespace roper {

/// Runs `work` and expects an Error of this kind whose message contains `part`.
template <class Work>
void expectError(ErrorKind kind, const std::string& part, Work work) {
    try {
        work();
        ADD_FAILURE() << "no error; expected one with \"" << part << "\"";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

}  // namespace roper
