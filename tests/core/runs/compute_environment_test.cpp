#include "core/runs/compute_environment.h"

#include <gtest/gtest.h>

#include "core/base/durable_file.h"
#include "core/base/file_reading.h"
#include "core/runs/run_recorder.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

ComputeEnvironment withPrecision(const std::string& precision) {
    return {"cpu", "AMD EPYC", "AVX-512 BF16", "ours",        "oneDNN 2.7.2, AVX-512 BF16", precision, 1,
            2,     "2.11.0",   "0.1.0",        "5c01f58aaaaa"};
}

Session sessionAfter(std::int64_t step, const std::string& precision) {
    return {step, 1795608229.5, "here", withPrecision(precision)};
}

TEST(ComputeEnvironment, OfEachSessionIsKept) {
    const TemporaryFolder folder;
    const RunFolder run = createRun(folder.path(), "run", {});
    EXPECT_TRUE(readSessions(run).empty()) << "as of an older version";
    addSession(run, sessionAfter(0, "bfloat16"));
    addSession(run, sessionAfter(500, "float32"));
    const std::vector<Session> sessions = readSessions(run);
    ASSERT_EQ(sessions.size(), 2U);
    EXPECT_EQ(sessions[0].computation, withPrecision("bfloat16"));
    EXPECT_EQ(sessions[1].after_step, 500);
    EXPECT_EQ(sessions[1].started_at, 1795608229.5);
    EXPECT_EQ(sessions[1].host, "here");
    EXPECT_EQ(textOf(sessions[1].computation),
              "float32, our kernels for AVX-512 BF16, matrix products by oneDNN 2.7.2, AVX-512 BF16, "
              "AMD EPYC, 2 threads, LibTorch 2.11.0, RoPER Lab 0.1.0 of commit 5c01f58aaaaa");
    ComputeEnvironment together = withPrecision("float32");
    together.processes = 2;
    EXPECT_NE(textOf(together).find(", 2 processes with 2 threads each, "), std::string::npos);
}

TEST(ComputeEnvironment, ALineThatIsTornHidesNoOther) {
    const TemporaryFolder folder;
    const RunFolder run = createRun(folder.path(), "run", {});
    addSession(run, sessionAfter(0, "bfloat16"));
    writeFileAtomically(sessionsPath(run), readFile(sessionsPath(run), 1 << 20) + "{\"after_step\": 5");
    addSession(run, sessionAfter(10, "float32"));
    EXPECT_EQ(computeEnvironmentsOf(readSessions(run)),
              (std::vector<ComputeEnvironment>{withPrecision("bfloat16"), withPrecision("float32")}));
}

TEST(ComputeEnvironment, WhatWasComputedAgainNoLongerCounts) {
    const auto of = [](std::initializer_list<std::pair<std::int64_t, const char*>> sessions) {
        std::vector<Session> all;
        for (const auto& [step, precision] : sessions)
            all.push_back(sessionAfter(step, precision));
        std::vector<std::string> precisions;
        for (const ComputeEnvironment& computation : computeEnvironmentsOf(all))
            precisions.push_back(computation.precision);
        return precisions;
    };
    using Precisions = std::vector<std::string>;
    EXPECT_EQ(of({{0, "bfloat16"}, {0, "float32"}}), Precisions{"float32"}) << "from the beginning again";
    EXPECT_EQ(of({{0, "bfloat16"}, {100, "float32"}, {50, "bfloat16"}}), Precisions{"bfloat16"});
    EXPECT_EQ(of({{0, "bfloat16"}, {100, "float32"}, {200, "float32"}}), (Precisions{"bfloat16", "float32"}));
    EXPECT_EQ(of({}), Precisions{});
}

}  // namespace
}  // namespace roper
