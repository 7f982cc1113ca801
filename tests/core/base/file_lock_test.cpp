#include "core/base/file_lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <future>

#include "tests/support/expect_error.h"
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

}  // namespace
}  // namespace roper
