#include "core/base/durable_file.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/base/file_reading.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

std::size_t filesIn(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

/// During its lifetime, limits the size of files, so that writes fail as on a full disk.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

  private:
    rlimit before_{};
};

TEST(AtomicWrite, ReplacesTheWholeFile) {
    const TemporaryFolder folder;
    writeFileAtomically(folder / "f", "old content");
    writeFileAtomically(folder / "f", "new");
    EXPECT_EQ(readFile(folder / "f"), "new");
    EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(AtomicWrite, AFailedWriteLeavesTheOldFileAndNoRest) {
    const TemporaryFolder folder;
    writeFileAtomically(folder / "f", "old");
    {
        const FileSizeLimit limit(1000);
        expectError(ErrorKind::disk, (folder / "f").string(),
                    [&] { writeFileAtomically(folder / "f", std::string(5000, 'x')); });
    }
    EXPECT_EQ(readFile(folder / "f"), "old");
    EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(AtomicWrite, NamesTheFolderThatIsMissing) {
    const TemporaryFolder folder;
    expectError(ErrorKind::disk, "no/such", [&] { writeFileAtomically(folder / "no/such/file", "x"); });
    expectError(ErrorKind::disk, "nothing", [&] { readFile(folder / "nothing"); });
    expectError(ErrorKind::disk, folder.path().string(), [&] { readFile(folder.path()); });
}

TEST(AppendFile, CutsATornLastLine) {
    const TemporaryFolder folder;
    std::ofstream(folder / "f") << "one\ntwo\nthr";
    AppendFile file(folder / "f");
    file.append("three");
    EXPECT_EQ(readFile(folder / "f"), "one\ntwo\nthree\n");
}

TEST(AppendFile, ATerabyteWithoutALineIsRefused) {
    const TemporaryFolder folder;
    std::ofstream(folder / "f") << "one\n" << std::string(3000000, '\0');
    AppendFile(folder / "f").append("two");  // a partial write of any length
    EXPECT_EQ(readFile(folder / "f"), "one\ntwo\n");
    std::filesystem::resize_file(folder / "f", 1ULL << 40U);
    expectError(ErrorKind::disk, "move it away", [&] { AppendFile(folder / "f"); });
    EXPECT_EQ(std::filesystem::file_size(folder / "f"), 1ULL << 40U);
}

TEST(AppendFile, AFailedAppendIsTakenBack) {
    const TemporaryFolder folder;
    AppendFile file(folder / "f");
    file.append("whole");
    {
        const FileSizeLimit limit(20);
        expectError(ErrorKind::disk, (folder / "f").string(), [&] { file.append(std::string(100, 'x')); });
    }
    EXPECT_EQ(readFile(folder / "f"), "whole\n");
    file.append("next");
    EXPECT_EQ(readFile(folder / "f"), "whole\nnext\n");
}

}  // namespace
}  // namespace roper
