#include "core/base/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include "core/base/lease.h"
#include "core/base/stop_signals.h"
#include "tests/support/expect_error.h"
#include "tests/support/limited_process.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

TEST(FileLock, OneAtATime) {
    const TemporaryFolder folder;
    auto first = std::make_unique<FileLock>(folder / "lock");
    EXPECT_TRUE(first->held());
    int asked = 0;
    const FileLock impatient(folder / "lock", [&](const std::string& holder) {
        EXPECT_NE(holder.find("process " + std::to_string(::getpid())), std::string::npos) << holder;
        return ++asked < 3;
    });
    EXPECT_FALSE(impatient.held());
    EXPECT_EQ(asked, 3);
    EXPECT_FALSE(FileLock(folder / "lock").held());
    const auto patient = [](const std::string&) { return true; };
    auto second = std::async(std::launch::async, [&] { return FileLock(folder / "lock", patient).held(); });
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    first.reset();
    EXPECT_TRUE(second.get());
}

TEST(FileLock, IsItsOwnersAlone) {
    const TemporaryFolder folder;
    const mode_t before = ::umask(0);
    std::ofstream(folder / "of an older version").flush();
    for (const char* name : {"new", "of an older version"}) {
        const FileLock lock(folder / name);
        struct stat info {};
        ASSERT_EQ(::stat((folder / name).c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777U, 0600U) << name;
    }
    ::umask(before);
}

TEST(FileLock, CanBeSeenWithoutBeingTaken) {
    const TemporaryFolder folder;
    EXPECT_EQ(isLockHeld(folder / "lock"), std::optional(false));
    {
        const FileLock lock(folder / "lock");
        EXPECT_EQ(isLockHeld(folder / "lock"), std::optional(true));
        EXPECT_EQ(isLockHeld(folder / "lock"), std::optional(true));
    }
    EXPECT_EQ(isLockHeld(folder / "lock"), std::optional(false));
}

TEST(FileLock, WaitingEndsWithTheNameOfTheHolder) {
    const TemporaryFolder folder;
    const FileLock first(folder / "lock");
    expectError(ErrorKind::usage, "process " + std::to_string(::getpid()) + " on ",
                [&] { FileLock second(folder / "lock", waitAtMost(0.15, "the lock")); });
}

TEST(FileLock, SaysWhereItCannotBe) {
    const TemporaryFolder folder;
    expectError(ErrorKind::disk, "missing/lock", [&] { FileLock lock(folder / "missing/lock"); });
}

using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr double kExpiry_s = 0.6;

ProcessIdentity processOn(const std::string& host) {
    return {host, "boot of " + host, "pid:[1]", 4711, 99};
}

class LeaseTest : public testing::Test {
  protected:
    std::unique_ptr<Lease> take(const std::string& host, double expires_s = kExpiry_s) {
        return std::make_unique<Lease>(
            folder_.path(), [this](const std::string& text) { said_.push_back(text); }, expires_s,
            processOn(host));
    }

    /// The state after a process was killed: the lease was not released.
    void leaveLease(int number, const ProcessIdentity& holder) {
        std::ofstream(folder_.path() / ("lease." + std::to_string(number)))
            << R"({"host": ")" << holder.host << R"(", "boot": ")" << holder.boot
            << R"(", "pid_namespace": ")" << holder.pid_namespace << R"(", "pid": )" << holder.pid
            << R"(, "start": )" << holder.start << "}\n";
    }

    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_.path()))
            names.push_back(entry.path().filename().string());
        return names;
    }

    TemporaryFolder folder_;
    std::vector<std::string> said_;
};

TEST_F(LeaseTest, IsHeldByOneAndReleased) {
    for (std::int64_t number = 1; number <= 3; ++number) {
        const auto lease = take("a");
        EXPECT_EQ(lease->number(), number);
        lease->requireLease();
    }
    EXPECT_EQ(files(), std::vector<std::string>{"lease.3"});
    EXPECT_TRUE(said_.empty());
}

TEST_F(LeaseTest, IsRefusedWhileTheHeartbeatOfAnotherMachineGoesOn) {
    constexpr double kExpiresLate_s = 5;  // a heartbeat may be delayed by a second if the disk is busy
    const auto held = take("a", kExpiresLate_s);
    expectError(ErrorKind::usage, "process 4711 on a", [&] { take("b", kExpiresLate_s); });
    ASSERT_EQ(said_.size(), 1U);
    EXPECT_NE(said_.front().find("process 4711 on a"), std::string::npos);
    held->requireLease();
}

TEST_F(LeaseTest, NamesThatNoProcessGivesAreIgnoredAndSaid) {
    for (const char* name : {"lease.01", "lease.+9", "lease.-3", "lease.0", "lease.9x", "lease.",
                             "lease.9223372036854775807", "lease.9223372036854775808", "lease.1000000000001"})
        std::ofstream(folder_ / name) << "{}";
    leaveLease(2, processOn("a"));
    std::ofstream(folder_ / "lease.2") << "released\n";
    const auto lease = take("b");
    EXPECT_EQ(lease->number(), 3);
    EXPECT_TRUE(lease->renew()) << "an odd name is no successor";
    ASSERT_EQ(said_.size(), 1U);
    EXPECT_NE(said_.front().find("which is not a lease and is ignored"), std::string::npos) << said_.front();
}

TEST_F(LeaseTest, TheLargestNumberHasNoSuccessor) {
    std::ofstream(folder_ / "lease.1000000000000") << "released\n";
    expectError(ErrorKind::usage, "has the largest possible number", [&] { take("a"); });
}

TEST_F(LeaseTest, ATimeAheadOfTheClockIsWaitedForNoLongerThanAnyOther) {
    int number = 7;
    for (const time_t ahead_s : {3, 3600, 1'000'000'000}) {
        leaveLease(number, processOn("a"));
        timespec times[2]{};
        ::clock_gettime(CLOCK_REALTIME, &times[1]);
        times[1].tv_sec += ahead_s;
        times[0] = times[1];
        ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / ("lease." + std::to_string(number))).c_str(), times, 0),
                  0);
        const auto began = std::chrono::steady_clock::now();
        const auto lease = take("b");
        const auto waited = std::chrono::steady_clock::now() - began;
        EXPECT_GE(waited, milliseconds(500)) << "it may live";
        EXPECT_LT(waited, std::chrono::seconds(30));
        EXPECT_EQ(lease->number(), number + 1);
        number += 10;
        ASSERT_FALSE(said_.empty());
        EXPECT_NE(said_.back().find("in the future; waiting up to 1 s"), std::string::npos) << said_.back();
    }
}

TEST_F(LeaseTest, IsTakenOverOnceAnotherMachineIsSilent) {
    leaveLease(7, processOn("a"));
    const auto began = std::chrono::steady_clock::now();
    const auto lease = take("b");
    EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(500));
    EXPECT_EQ(lease->number(), 8);
    EXPECT_EQ(files(), std::vector<std::string>{"lease.8"});
}

TEST_F(LeaseTest, ADeadProcessOfThisMachineIsNotWaitedFor) {
    ProcessIdentity gone = ProcessIdentity::ofThisProcess();
    gone.start += 1;  // another process with the same id
    leaveLease(1, gone);
    const Lease lease(folder_.path());
    EXPECT_EQ(lease.number(), 2);
}

TEST_F(LeaseTest, ALivingProcessOfThisMachineIsNamedAtOnceHoweverSilentItIs) {
    leaveLease(1, ProcessIdentity::ofThisProcess());
    const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    ::utimensat(AT_FDCWD, (folder_.path() / "lease.1").c_str(), long_ago, 0);
    expectError(ErrorKind::usage, "process " + std::to_string(::getpid()),
                [&] { Lease lease(folder_.path()); });
}

TEST_F(LeaseTest, WhoWasSilentTooLongWritesNoMore) {
    const auto suspended = take("a");
    leaveLease(2, processOn("b"));  // b took over meanwhile
    EXPECT_FALSE(suspended->renew());
    expectError(ErrorKind::other, "has taken over", [&] { suspended->requireLease(); });
}

TEST_F(LeaseTest, WithoutHeartbeatNothingIsWritten) {
    const auto cut_off = take("a");
    cut_off->requireLease();
    const fs::path file = folder_.path() / "lease.1";
    // Simulates an unresponsive file server: the file cannot be touched but still exists.
    const fs::path other = folder_.path() / "other";
    fs::create_directory(other);
    const auto exchange = [&] {
        ASSERT_EQ(::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE), 0);
    };
    exchange();
    std::this_thread::sleep_for(milliseconds(400));
    expectError(ErrorKind::disk, "nothing is written there", [&] { cut_off->requireLease(); });
    exchange();
    cut_off->requireLease();
}

/// The directory changes between listing its names and creating a file.
TEST_F(LeaseTest, ANumberThatOthersHaveUsedMeanwhileIsNotTaken) {
    leaveLease(1, processOn("a"));
    std::unique_ptr<Lease> late;
    // While `late` checks whether holder 1 is alive, others take over twice: 2 has been removed, 3 is held.
    std::thread machine(
        [&] { expectError(ErrorKind::usage, "process 4711 on c", [&] { late = take("late"); }); });
    std::this_thread::sleep_for(milliseconds(200));
    leaveLease(3, processOn("c"));
    const auto beat = [&] {
        for (int i = 0; i < 20; ++i) {
            ::utimensat(AT_FDCWD, (folder_.path() / "lease.3").c_str(), nullptr, 0);
            std::this_thread::sleep_for(milliseconds(100));
        }
    };
    beat();
    machine.join();
    EXPECT_FALSE(late);
    EXPECT_TRUE(fs::exists(folder_.path() / "lease.3"));
    EXPECT_FALSE(fs::exists(folder_.path() / "lease.2"));
}

TEST_F(LeaseTest, TheOneThatLostItLeavesTheOtherItsFile) {
    {
        const auto suspended = take("a");
        leaveLease(2, processOn("b"));
        suspended->renew();
    }
    std::ifstream file(folder_.path() / "lease.2");
    EXPECT_NE(std::string(std::istreambuf_iterator<char>(file), {}).find("boot of b"), std::string::npos);
}

TEST_F(LeaseTest, AFileThatSaysNothingIsJudgedByItsTime) {
    std::ofstream(folder_.path() / "lease.3") << "";
    const auto lease = take("b");
    EXPECT_EQ(lease->number(), 4);
    ASSERT_EQ(said_.size(), 1U);
    EXPECT_NE(said_.front().find("another program"), std::string::npos);
}

TEST_F(LeaseTest, ManyThatWantItGetItOneAtATime) {
    leaveLease(1, processOn("dead"));
    std::atomic<int> holders = 0, most = 0, got = 0;
    std::vector<std::thread> machines;
    for (int i = 0; i < 8; ++i)
        machines.emplace_back([&, i] {
            const auto identity = processOn("m" + std::to_string(i));
            for (int tries = 0; tries < 100; ++tries) {
                try {
                    const Lease lease(folder_.path(), {}, kExpiry_s, identity);
                    most = std::max<int>(most, ++holders);
                    std::this_thread::sleep_for(milliseconds(20));
                    --holders;
                    ++got;
                    return;
                } catch (const Error&) {
                    std::this_thread::sleep_for(milliseconds(5));
                }
            }
        });
    for (std::thread& machine : machines)
        machine.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(got, 8);
}

TEST_F(LeaseTest, ToldToEndItWaitsNoLonger) {
    leaveLease(1, processOn("b"));
    EXPECT_TRUE(finishesWithin(10, 1'000'000'000, [&] {
        handleStopSignals();
        ::raise(SIGTERM);
        expectError(ErrorKind::preempted, "stopped while waiting for process 4711 on b",
                    [&] { Lease(folder_.path(), {}, /*expires_s=*/20, processOn("a")); });
    }));
}

}  // namespace

}  // namespace roper
