#include "core/base/file_path.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>

#include "core/base/durable_file.h"
#include "core/base/file_reading.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

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
