#include "core/base/available.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace roper
