#include "core/base/durable_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <fstream>

#include "core/base/file_path.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
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

namespace fs = std::filesystem;

std::vector<std::string> linesOf(const fs::path& path) {
    std::vector<std::string> lines;
    LineReader reader(path);
    while (const auto line = reader.next())
        lines.emplace_back(*line);
    EXPECT_EQ(reader.number(), lines.size());
    return lines;
}

/// A sparse file of one terabyte: zeros after `begin`.
fs::path sparseFile(const TemporaryFolder& folder, const std::string& begin) {
    std::ofstream(folder / "sparse") << begin;
    fs::resize_file(folder / "sparse", 1ULL << 40U);
    return folder / "sparse";
}

RC_GTEST_PROP(LineReader, HandsOutWholeLines, (const std::vector<std::string>& texts, bool torn)) {
    const TemporaryFolder folder;
    std::vector<std::string> lines;
    std::string content;
    for (std::string line : texts) {
        std::erase(line, '\n');
        lines.push_back(line);
        content += line + "\n";
    }
    writeFileAtomically(folder / "f", content + (torn ? "torn" : ""));
    RC_ASSERT(linesOf(folder / "f") == lines);
    while (!lines.empty() && lines.back().empty())
        lines.pop_back();
    RC_ASSERT(lastLine(folder / "f") == (lines.empty() ? std::nullopt : std::optional(lines.back())));
}

TEST(LineReader, LinesLongerThanItsPartsAreWhole) {
    const TemporaryFolder folder;
    std::string content;
    std::vector<std::string> lines;
    for (const std::size_t length : {0U, 65535U, 65536U, 65537U, 1U, 300000U, 1000000U}) {
        lines.emplace_back(length, static_cast<char>('a' + lines.size()));
        content += lines.back() + "\n";
    }
    writeFileAtomically(folder / "f", content);
    EXPECT_EQ(linesOf(folder / "f"), lines);
    EXPECT_EQ(lastLine(folder / "f"), lines.back());
}

TEST(LineReader, AMissingFileHasNoLines) {
    EXPECT_TRUE(linesOf("/nowhere/at/all").empty());
    EXPECT_EQ(lastLine("/nowhere/at/all"), std::nullopt);
    EXPECT_EQ(readEnd("/nowhere/at/all", 10), "");
}

TEST(LineReader, ALineThatIsTooLongCanBeCut) {
    const TemporaryFolder folder;
    const std::string longer(3000000, 'x');
    const auto truncated = [&](const std::string& content) {
        writeFileAtomically(folder / "f", content);
        LineReader reader(folder / "f", LineReader::LastLine::unfinished,
                          LineReader::OverlongLine::truncated);
        std::vector<std::string> lines;
        while (const auto line = reader.next())
            lines.emplace_back(*line);
        EXPECT_EQ(reader.number(), lines.size());
        return lines;
    };
    using Lines = std::vector<std::string>;
    const std::string beginning(1000, 'x');
    EXPECT_EQ(truncated("one\n" + longer + "\ntwo\n"), (Lines{"one", beginning, "two"}));
    EXPECT_EQ(truncated("one\n" + longer), (Lines{"one", beginning}));
    EXPECT_EQ(truncated(longer + "\n" + longer + "\nend\ntorn"), (Lines{beginning, beginning, "end"}));
    const fs::path sparse = sparseFile(folder, "one\n");
    LineReader reader(sparse, LineReader::LastLine::unfinished, LineReader::OverlongLine::truncated);
    EXPECT_EQ(reader.next(), "one");
    expectError(ErrorKind::disk, "a line longer than 67.1 MB", [&] { reader.next(); });
}

TEST(Reading, ATerabyteOfNothingIsRefusedUnread) {
    const TemporaryFolder folder;
    const fs::path sparse = sparseFile(folder, "one\ntwo\n");
    expectError(ErrorKind::disk, "is larger than 67.1 MB", [&] { readFile(sparse); });
    expectError(ErrorKind::disk, "is larger than 5 bytes", [&] { readFile(sparse, 5); });
    expectError(ErrorKind::disk, "a line longer than", [&] { lastLine(sparse); });
    LineReader lines(sparse);
    EXPECT_EQ(lines.next(), "one");
    EXPECT_EQ(lines.next(), "two");
    expectError(ErrorKind::disk, "a line longer than", [&] { lines.next(); });
    EXPECT_EQ(readEnd(sparse, 3), std::string(3, '\0'));
}

namespace fs = std::filesystem;

/// A folder received from somebody else: the test fills "run/file", from which "outside" must not be
/// reachable.
struct SentFolder {
    SentFolder() {
        fs::create_directories(folder / "sent/run");
        fs::create_directory(folder / "outside");
        writeFileAtomically(folder / "outside/file", "precious\n");
    }
    FilePath path(const std::string& name) const { return FilePath::inside(folder / "sent", name); }
    std::string outside() const { return readFile(folder / "outside/file"); }

    TemporaryFolder folder;
};

TEST(FilePath, NothingLeadsOut) {
    for (const char* name : {"..", "../a", "a/../../b", "/etc/passwd", ""})
        EXPECT_THROW(FilePath::inside("/runs", name), std::invalid_argument) << name;
    EXPECT_THROW(FilePath::inside("/runs", "a") / "../..", std::invalid_argument);
    EXPECT_EQ((FilePath::inside("/runs", "a") / "b/c").string(), "/runs/a/b/c");
}

TEST(FilePath, ALinkIsNotFollowed) {
    const SentFolder sent;
    fs::create_symlink(sent.folder / "outside/file", sent.folder / "sent/run/file");
    fs::create_symlink(sent.folder / "outside", sent.folder / "sent/linked");
    for (const char* name : {"run/file", "linked/file"}) {
        const FilePath path = sent.path(name);
        expectError(ErrorKind::disk, "symbolic link", [&] { readFile(path); });
        expectError(ErrorKind::disk, "symbolic link", [&] { readEnd(path, 10); });
        expectError(ErrorKind::disk, "symbolic link", [&] { AppendFile(path).append("x"); });
    }
    expectError(ErrorKind::disk, "symbolic link", [&] { writeFileAtomically(sent.path("linked/new"), "x"); });
    expectError(ErrorKind::disk, "symbolic link", [&] { makeFolder(sent.path("linked/new")); });
    expectError(ErrorKind::disk, "symbolic link", [&] { removeFile(sent.path("linked/file")); });
    expectError(ErrorKind::disk, "symbolic link", [&] { listFolder(sent.path("linked")); });
    expectError(ErrorKind::disk, "symbolic link", [&] { pathExists(sent.path("linked/file")); });
    EXPECT_TRUE(pathExists(sent.path("linked")));
    EXPECT_EQ(sent.outside(), "precious\n");
    EXPECT_FALSE(fs::exists(sent.folder / "outside/new"));

    // Replacing a link must not change its target.
    writeFileAtomically(sent.path("run/file"), "new");
    EXPECT_EQ(readFile(sent.path("run/file")), "new");
    EXPECT_EQ(sent.outside(), "precious\n");
}

TEST(FilePath, WhatCannotBeListedIsNotTakenForEmpty) {
    const SentFolder sent;
    EXPECT_TRUE(listFolder(sent.path("run/missing")).empty());
    writeFileAtomically(sent.path("run/file"), "no folder");
    expectError(ErrorKind::disk, "run/file", [&] { listFolder(sent.path("run/file")); });
    expectError(ErrorKind::disk, "run/file", [&] { listFolder((sent.folder / "sent/run/file").string()); });
}

TEST(FilePath, AppendingLeavesOtherNamesOfTheFileAlone) {
    const SentFolder sent;
    fs::create_hard_link(sent.folder / "outside/file", sent.folder / "sent/run/file");
    AppendFile(sent.path("run/file")).append("more");
    EXPECT_EQ(readFile(sent.path("run/file")), "precious\nmore\n");
    EXPECT_EQ(sent.outside(), "precious\n");
}

TEST(FilePath, OnlyRegularFilesAreOpened) {
    const SentFolder sent;
    ASSERT_EQ(::mkfifo((sent.folder / "sent/run/pipe").c_str(), 0600), 0);
    fs::create_directory(sent.folder / "sent/run/folder");
    fs::create_symlink("/dev/zero", sent.folder / "sent/run/zero");
    fs::create_symlink("loop", sent.folder / "sent/run/loop");
    for (const auto& [name, part] : {std::pair{"pipe", "a named pipe"},
                                     {"folder", "a folder"},
                                     {"zero", "a symbolic link"},
                                     {"loop", "a symbolic link"}}) {
        const FilePath path = sent.path("run") / name;
        expectError(ErrorKind::disk, part, [&] { readFile(path); });
        expectError(ErrorKind::disk, part, [&] { LineReader lines(path); });
        expectError(ErrorKind::disk, part, [&] { AppendFile file(path); });
    }
}

/// A path named by the user is trusted and may lead through links, as /tmp does on some machines.
TEST(FilePath, ANamedPathIsFollowed) {
    const SentFolder sent;
    fs::create_symlink(sent.folder / "outside", sent.folder / "mine");
    EXPECT_EQ(readFile(sent.folder / "mine/file"), "precious\n");
    EXPECT_EQ(readFile(FilePath::inside(sent.folder / "mine", "file")), "precious\n");
}

TEST(FilePath, WhatIsMadeRespectsTheUmask) {
    const TemporaryFolder folder;
    const mode_t before = ::umask(077);
    writeFileAtomically(folder / "written", "x");
    AppendFile(folder / "appended").append("x");
    makeFolder(FilePath::inside(folder.path(), "made"));
    ::umask(before);
    for (const char* name : {"written", "appended", "made"}) {
        struct stat info {};
        ASSERT_EQ(::stat((folder / name).c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 077U, 0U) << name;
    }
}

TEST(FilePath, LinksToRegularFilesAreFollowedAndNothingElseIsOpened) {
    const TemporaryFolder folder;
    fs::create_directories(folder / "blobs");
    writeFileAtomically(folder / "blobs/1", "x");
    const fs::path pipe = folder / "blobs/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const Descriptor other_end(
        ::open(pipe.c_str(), O_RDWR | O_CLOEXEC));  // a writer, so that opening the pipe does not block
    const FilePath model = FilePath::regular(folder / "model");
    fs::create_directories(folder / "model");
    fs::create_symlink("../blobs/1", folder / "model/file");
    fs::create_symlink("../blobs/pipe", folder / "model/pipe");
    fs::create_symlink("/dev/zero", folder / "model/device");
    fs::create_symlink("../blobs", folder / "model/folder");
    fs::create_symlink("../blobs/2", folder / "model/missing");
    EXPECT_EQ(readFile(model / "file"), "x");
    for (const auto& [name, part] :
         {std::pair("pipe", "model/pipe is a named pipe, not a file"),
          std::pair("device", "is a device, not a file"), std::pair("folder", "is a folder, not a file")})
        expectError(ErrorKind::disk, part, [&, file = name] { openFile(model / file, O_RDONLY); });
    expectError(ErrorKind::disk, "No such file", [&] { readFile(model / "missing"); });
    EXPECT_FALSE(openFileIfExists(model / "missing", O_RDONLY));
}

}  // namespace

}  // namespace roper
