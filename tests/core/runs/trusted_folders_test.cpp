#include "core/runs/trusted_folders.h"

#include <fstream>

#include "core/base/file_reading.h"
#include "core/runs/run_queue.h"
#include "core/runs/run_recorder.h"
#include "tests/support/expect_error.h"
#include "tests/support/isolated_user_state.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

fs::path list(const IsolatedUserState& state) {
    return state.path() / "trusted-folders.jsonl";
}

TEST(Trust, IsOfTheFolderNotOfItsName) {
    const IsolatedUserState state;
    const TemporaryFolder folder;
    fs::create_directory(folder / "runs");
    trustFolder(folder / "runs");
    EXPECT_TRUE(isTrusted(folder / "runs"));
    fs::rename(folder / "runs", folder / "moved");
    EXPECT_FALSE(isTrusted(folder / "moved"));
    fs::create_directory(folder / "runs");
    EXPECT_FALSE(isTrusted(folder / "runs"));
    fs::create_symlink(folder / "moved", folder / "link");
    EXPECT_FALSE(isTrusted(folder / "link"));
}

TEST(Trust, AListThatCannotBeReadTrustsNothing) {
    const IsolatedUserState state;
    const TemporaryFolder folder;
    trustFolder(folder.path());
    const std::string line = readFile(list(state));
    writeFileAtomically(list(state), "{\"path\": 3}\nnonsense\n[]\n" + line);
    EXPECT_TRUE(isTrusted(folder.path()));
    std::string endless(2 << 20, 'x');
    endless.append("\n").append(line);
    writeFileAtomically(list(state), endless);
    EXPECT_FALSE(isTrusted(folder.path()));
    EXPECT_THROW(trustFolder(folder.path()), Error);  // existing entries are not lost
    EXPECT_EQ(readFile(list(state)), endless);
    fs::remove(list(state));
    fs::create_directory(list(state));
    EXPECT_FALSE(isTrusted(folder.path()));
}

TEST(Trust, ManyFoldersDoNotMakeTheListLong) {
    const IsolatedUserState state;
    for (int i = 0; i < 1010; ++i) {
        const TemporaryFolder folder;
        trustFolder(folder.path());
    }
    std::size_t lines = 0;
    LineReader reader(list(state));
    while (reader.next())
        ++lines;
    EXPECT_LT(lines, 1000U);
}

TEST(Trust, OnesOwnFolderHasNoOtherOwner) {
    const TemporaryFolder folder;
    EXPECT_EQ(otherOwnerOf(folder.path()), std::nullopt);
    EXPECT_EQ(otherOwnerOf("/nowhere"), std::nullopt);
    EXPECT_NO_THROW(requireOwnedOrTrusted(folder.path()));
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
        EXPECT_EQ(otherOwnerOf(folder.path()), "user 12345");
        const IsolatedUserState state;
        expectError(ErrorKind::disk, "belongs to user 12345", [&] { createRun(folder.path(), "a", {}); });
        expectError(ErrorKind::disk, "belongs to user 12345",
                    [&] { enqueueRuns(folder.path(), {Specification{}}); });
        EXPECT_TRUE(fs::is_empty(folder.path()));
        trustFolder(folder.path());
        EXPECT_NO_THROW(createRun(folder.path(), "a", {}));
    }
}

}  // namespace
}  // namespace roper
