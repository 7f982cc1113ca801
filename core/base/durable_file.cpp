#include "core/base/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/retry_interrupted.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::size_t kReadBackAtOnce = 64U << 10U;

/// Repeats write(2) until everything is written; returns 0 or errno.
int writeAll(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written =
            retryInterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
        if (written < 0) return errno;
        if (written == 0) return ENOSPC;  // nothing was written, without an error
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

int syncRetrying(int descriptor) {
    return retryInterrupted([&] { return ::fsync(descriptor); });
}

void syncOpenFolder(const Descriptor& folder, const std::filesystem::path& path) {
    // Some network file systems cannot sync a folder and return EINVAL; the rename itself has succeeded.
    if (syncRetrying(folder.number()) != 0 && errno != EINVAL) throw diskError("write", path.string(), errno);
}

/// Creates a file with a unique name in the folder of the file that it is to replace.
Descriptor makePartialFile(const Descriptor& folder, const FilePath& path, FilePermissions permissions,
                           std::string& name) {
    constexpr int kTries = 100;
    std::random_device random;
    for (int i = 0;; ++i) {
        name = path.path().filename().string().append(kPartialMark).append(std::to_string(random()));
        const int file =
            ::openat(folder.number(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     permissions == FilePermissions::owner ? 0600 : 0666);
        if (file >= 0) return Descriptor(file);
        const bool again = errno == EINTR || errno == EEXIST;
        if (!again || i == kTries) throw diskError("create", path.string().append(kPartialMark), errno);
    }
}

/// End of the last complete line in a file of `size` bytes.
/// @throws Error (disk) if that is not within the last kMaxFileBytes: a torn write is a single line
std::uint64_t endOfLines(const Descriptor& file, const std::string& path, std::uint64_t size) {
    std::array<char, kReadBackAtOnce> part;
    const std::uint64_t whole = size;
    while (size > 0) {
        if (whole - size > kMaxFileBytes)
            throw Error(ErrorKind::disk,
                        path + " contains no line break in its last " +
                            formatBytes(static_cast<double>(kMaxFileBytes)) +
                            "; it is damaged or not a RoPER Lab file: move it away to continue "
                            "without it");
        const std::uint64_t begin = size - std::min<std::uint64_t>(size, part.size());
        const std::size_t got = readAt(file, std::span(part).first(size - begin), begin, path);
        const std::size_t at = std::string_view(part.data(), got).rfind('\n');
        if (at != std::string_view::npos) return begin + at + 1;
        size = begin;
    }
    return 0;
}

}  // namespace

void writeFileAtomically(const FilePath& path, const std::function<void(const AppendBytes&)>& write,
                         Durability durability, FilePermissions permissions) {
    const Descriptor folder = openFolderOf(path);
    const std::string name = path.path().filename().string();
    std::string temporary;
    const Descriptor file = makePartialFile(folder, path, permissions, temporary);
    const bool durable = durability == Durability::machine_failure;
    try {
        write([&](std::span<const std::byte> bytes) {
            if (const int error_number = writeAll(file.number(), bytes))
                throw diskError("write", path.string(), error_number);
        });
        if (durable && syncRetrying(file.number()) != 0) throw diskError("write", path.string(), errno);
        if (::renameat(folder.number(), temporary.c_str(), folder.number(), name.c_str()) != 0)
            throw diskError("replace", path.string(), errno);
    } catch (...) {
        ::unlinkat(folder.number(), temporary.c_str(), 0);
        throw;
    }
    if (durable) syncOpenFolder(folder, path.parent().path());
}

void writeFileAtomically(const FilePath& path, std::string_view content, Durability durability,
                         FilePermissions permissions) {
    writeFileAtomically(
        path, [&](const AppendBytes& append) { append(bytesOf(content)); }, durability, permissions);
}

void copyFileAtomically(const FilePath& from, const FilePath& to) {
    writeFileAtomically(to, [&](const AppendBytes& append) {
        forEachPart(from, [&](std::string_view part) { append(bytesOf(part)); });
    });
}

std::filesystem::path outputPath(const std::filesystem::path& named) {
    constexpr int kMaxLinks = 40;  // Linux's limit
    std::filesystem::path resolved = named;
    std::error_code unreadable;
    for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(resolved, unreadable); ++i) {
        const auto target = std::filesystem::read_symlink(resolved, unreadable);
        resolved = resolved.parent_path() / target;
    }
    const auto kind = std::filesystem::status(resolved, unreadable).type();
    if (kind == std::filesystem::file_type::none)
        throw diskError("write", named.string(), unreadable.value());
    if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular)
        throw Error(ErrorKind::disk,
                    "cannot write " + named.string() + ": it is not a regular file; choose another name");
    return resolved;
}

void syncFolder(const std::filesystem::path& folder) {
    syncOpenFolder(openFile(folder, O_RDONLY | O_DIRECTORY), folder);
}

AppendFile::AppendFile(const FilePath& path, Content kind) : path_(path.string()), content_(kind) {
    struct stat info {};
    const auto open = [&] {
        file_ = openFile(path, O_RDWR | O_CREAT | O_APPEND);
        if (::fstat(file_.number(), &info) != 0) throw diskError("open", path_, errno);
    };
    open();
    if (info.st_nlink > 1) {
        copyFileAtomically(path, path);
        open();
    }
    const auto file_bytes = static_cast<std::uint64_t>(info.st_size);
    size_ = content_ == Content::bytes ? file_bytes : endOfLines(file_, path_, file_bytes);
    if (size_ < file_bytes && ::ftruncate(file_.number(), static_cast<off_t>(size_)) != 0)
        throw diskError("write", path_, errno);
}

void AppendFile::append(std::string_view line) {
    std::string bytes(line);
    if (content_ == Content::lines) bytes += '\n';
    if (const int error_number = writeAll(file_.number(), bytesOf(bytes))) {
        // A part of the line may have been written, and the next line would continue it.
        [[maybe_unused]] const int ignored = ::ftruncate(file_.number(), static_cast<off_t>(size_));
        throw diskError("write", path_, error_number);
    }
    size_ += bytes.size();
}

void AppendFile::sync() {
    if (syncRetrying(file_.number()) != 0) throw diskError("write", path_, errno);
}

}  // namespace roper
