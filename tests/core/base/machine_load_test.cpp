#include "core/base/machine_load.h"

#include <gtest/gtest.h>

#include <chrono>

namespace roper {
namespace {

TEST(MachineLoad, CpuTimesAreThoseOfAllCores) {
    const auto times = parseCpuTimes("cpu  10 1 5 80 4 2 3 1 9 0\ncpu0 5 0 2 40 2 1 1 0 4 0\n");
    ASSERT_TRUE(times);
    EXPECT_EQ(times->all, 106U);
    EXPECT_EQ(times->busy, 22U);
    EXPECT_TRUE(parseCpuTimes("cpu  1 2 3 4"));  // older kernels
    EXPECT_FALSE(parseCpuTimes("cpu  1 2 3"));
    EXPECT_FALSE(parseCpuTimes("cpu0 1 2 3 4 5 6 7 8"));
    EXPECT_FALSE(parseCpuTimes(""));
}

TEST(MachineLoad, AMachineIsNamedByItsProcessorAndCores) {
    EXPECT_EQ(parseProcessorName("processor\t: 0\nmodel name\t: AMD EPYC 9B14\nflags\t: a b\n"),
              "AMD EPYC 9B14");
    EXPECT_EQ(parseProcessorName("processor: 0\nBogoMIPS: 50.00\n"), "");  // for example on ARM
    EXPECT_NE(machineName().find("core"), std::string::npos);
}

TEST(MachineLoad, ABusyProgramIsSeen) {
    MachineLoadReader reader;
    const MachineLoad first = reader.read();
    EXPECT_FALSE(first.cpu);  // needs an earlier sample for comparison
    EXPECT_GT(first.memory_total, first.memory_used);
    EXPECT_GT(first.memory_used, 0);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    volatile std::uint64_t work = 0;
    while (std::chrono::steady_clock::now() < end)
        work = work + 1;
    const MachineLoad second = reader.read();
    ASSERT_TRUE(second.cpu);
    EXPECT_GT(*second.cpu, 0);
    EXPECT_LE(*second.cpu, 1);
}

}  // namespace
}  // namespace roper
