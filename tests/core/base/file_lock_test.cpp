#include "core/base/file_lock.h"

#include <chrono>
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
    const FileLock impatient(folder / "lock", [&] { return ++asked < 3; });
    EXPECT_FALSE(impatient.held());
    EXPECT_EQ(asked, 3);
    auto second = std::async(std::launch::async, [&] { return FileLock(folder / "lock").held(); });
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    first.reset();
    EXPECT_TRUE(second.get());
}

TEST(FileLock, SaysWhereItCannotBe) {
    const TemporaryFolder folder;
    expectError(ErrorKind::disk, "missing/lock", [&] { FileLock lock(folder / "missing/lock"); });
}

}  // namespace
}  // namespace roper
