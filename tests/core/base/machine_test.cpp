#include "core/base/available.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <chrono>
#include <fstream>

#include "core/base/machine_load.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(Available, MemoryIsKnownHere) {
    const auto free = availableMemory();
    ASSERT_TRUE(free);
    EXPECT_GT(*free, 1e7);
    EXPECT_LT(*free, 1e14);
}

TEST(Available, DiskIsKnownAlsoOfAFolderThatIsNotThereYet) {
    EXPECT_GT(availableDisk("."), 0);
    EXPECT_TRUE(availableDisk("./no/such/folder").has_value());
}

/// A machine whose control groups are simulated by files in a folder.
class ControlGroupTest : public testing::Test {
  protected:
    void write(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((folder_.path() / path).parent_path());
        std::ofstream(folder_.path() / path) << text << "\n";
    }
    std::optional<double> cores() { return cgroupCpuQuota(folder_.path()); }
    std::optional<double> memory() { return cgroupMemoryAvailable(folder_.path()); }

    TemporaryFolder folder_;
};

TEST_F(ControlGroupTest, OneWithoutLimitsHasNone) {
    EXPECT_EQ(cores(), std::nullopt);
    EXPECT_EQ(memory(), std::nullopt);
    write("proc/self/cgroup", "0::/user.slice");
    write("sys/fs/cgroup/user.slice/cpu.max", "max 100000");
    write("sys/fs/cgroup/user.slice/memory.max", "max");
    write("sys/fs/cgroup/user.slice/memory.current", "5000");
    EXPECT_EQ(cores(), std::nullopt);
    EXPECT_EQ(memory(), std::nullopt);
}

TEST_F(ControlGroupTest, TheLeastOfItAndThoseAboveItCounts) {
    write("proc/self/cgroup", "0::/a/b");
    write("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
    EXPECT_EQ(cores(), 4);
    write("sys/fs/cgroup/a/cpu.max", "25000 50000");
    EXPECT_EQ(cores(), 0.5);
    write("sys/fs/cgroup/a/b/memory.max", "1000000");
    write("sys/fs/cgroup/a/b/memory.current", "600000");
    write("sys/fs/cgroup/a/b/memory.stat", "anon 5\nfile 7\ninactive_file 100000\nactive_file 3");
    EXPECT_EQ(memory(), 500000);
    write("sys/fs/cgroup/a/memory.max", "700000");
    write("sys/fs/cgroup/a/memory.current", "600000");
    EXPECT_EQ(memory(), 100000);
}

TEST_F(ControlGroupTest, AContainerOfVersion2SeesItselfAsTheRoot) {
    write("proc/self/cgroup", "0::/");
    write("sys/fs/cgroup/cpu.max", "150000 100000");
    EXPECT_EQ(cores(), 1.5);
    write("proc/self/cgroup", "0::/../other");  // seen from a sibling namespace
    EXPECT_EQ(cores(), 1.5);
}

TEST_F(ControlGroupTest, Version1HasATreeForEachController) {
    write("proc/self/cgroup",
          "5:memory:/docker/c:d\n4:cpu,cpuacct:/docker/c:d\n1:name=systemd:/docker/c:d\n0::/x");
    const std::string cpu = "sys/fs/cgroup/cpu,cpuacct/docker/c:d/",
                      kept = "sys/fs/cgroup/memory/docker/c:d/";
    write(cpu + "cpu.cfs_quota_us", "-1");
    write(cpu + "cpu.cfs_period_us", "100000");
    write(kept + "memory.limit_in_bytes", "9223372036854771712");
    write(kept + "memory.usage_in_bytes", "5000");
    EXPECT_EQ(cores(), std::nullopt);
    EXPECT_EQ(memory(), std::nullopt);
    write(cpu + "cpu.cfs_quota_us", "50000");
    write(kept + "memory.limit_in_bytes", "1000000");
    write(kept + "memory.stat", "inactive_file 1\ntotal_inactive_file 2000");
    EXPECT_EQ(cores(), 0.5);
    EXPECT_EQ(memory(), 997000);
}

TEST_F(ControlGroupTest, AContainerOfVersion1HasItsGroupAtTheRootOfTheTree) {
    write("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000");
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000");
    EXPECT_EQ(cores(), 2);
    EXPECT_EQ(memory(), 0);
}

TEST(UsableCores, AreThoseThatThisProcessMayRunOn) {
    EXPECT_GE(usableCores(), 1);
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
    EXPECT_LE(usableCores(), CPU_COUNT(&before));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
        if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(usableCores(), 1);
    ::sched_setaffinity(0, sizeof(before), &before);
}

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
