#include "core/base/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "core/base/error.h"

namespace roper {
namespace {

/// Closes on scope exit, so that an exception leaves no descriptor open.
struct Descriptor {
    int number = -1;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

/// write(2) until all is written; 0 or errno.
int writeAll(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

int openRetrying(const char* path, int flags, mode_t mode = 0) {
    int descriptor;
    do {
        descriptor = ::open(path, flags | O_CLOEXEC, mode);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

int syncRetrying(int descriptor) {
    int result;
    do {
        result = ::fsync(descriptor);
    } while (result < 0 && errno == EINTR);
    return result;
}

}  // namespace

std::string readFile(const std::filesystem::path& path) {
    const Descriptor file{openRetrying(path.c_str(), O_RDONLY)};
    if (file.number < 0) throw diskError("open", path.string(), errno);
    struct stat info {};
    if (::fstat(file.number, &info) != 0) throw diskError("read", path.string(), errno);
    if (S_ISDIR(info.st_mode)) throw diskError("read", path.string(), EISDIR);
    std::string content(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t filled = 0;
    while (true) {
        // One byte more than expected is read, so that a file that grows meanwhile is read to its end.
        if (filled == content.size()) content.resize(content.size() + 4096);
        const ssize_t got = ::read(file.number, content.data() + filled, content.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw diskError("read", path.string(), errno);
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    content.resize(filled);
    return content;
}

void writeFileAtomically(const std::filesystem::path& path,
                         const std::function<void(const AppendBytes&)>& write, Durability durability) {
    std::string temporary = path.string().append(kPartialMark).append("XXXXXX");
    Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
    if (file.number < 0) throw diskError("create", temporary, errno);
    const auto fail = [&](const char* action, int error_number) {
        ::unlink(temporary.c_str());
        return diskError(action, path.string(), error_number);
    };
    try {
        write([&](std::span<const std::byte> bytes) {
            if (const int error_number = writeAll(file.number, bytes)) throw fail("write", error_number);
        });
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
    ::fchmod(file.number, 0644);
    const bool durable = durability == Durability::machine_failure;
    if (durable && syncRetrying(file.number) != 0) throw fail("write", errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw fail("replace", errno);
    if (durable) syncFolder(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

void writeFileAtomically(const std::filesystem::path& path, std::string_view content, Durability durability) {
    writeFileAtomically(
        path, [&](const AppendBytes& append) { append(std::as_bytes(std::span(content))); }, durability);
}

void makeFolder(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw diskError("create", folder.string(), error.value());
}

void syncFolder(const std::filesystem::path& folder) {
    const Descriptor directory{openRetrying(folder.c_str(), O_RDONLY | O_DIRECTORY)};
    if (directory.number < 0) throw diskError("open", folder.string(), errno);
    // Some network file systems cannot sync a folder and say EINVAL; the rename itself has happened.
    if (syncRetrying(directory.number) != 0 && errno != EINVAL)
        throw diskError("write", folder.string(), errno);
}

AppendFile::AppendFile(std::filesystem::path path, Content kind) : path_(std::move(path)), content_(kind) {
    std::string content;
    if (std::filesystem::exists(path_)) content = readFile(path_);
    const std::size_t last_newline = content.rfind('\n');
    size_ = last_newline == std::string::npos ? 0 : last_newline + 1;
    if (content_ == Content::bytes) size_ = content.size();
    Descriptor file{openRetrying(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644)};
    if (file.number < 0) throw diskError("open", path_.string(), errno);
    if (size_ < content.size() && ::ftruncate(file.number, static_cast<off_t>(size_)) != 0)
        throw diskError("write", path_.string(), errno);
    descriptor_ = std::exchange(file.number, -1);
}

AppendFile::~AppendFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::append(std::string_view line) {
    std::string bytes(line);
    if (content_ == Content::lines) bytes += '\n';
    if (const int error_number = writeAll(descriptor_, std::as_bytes(std::span(bytes)))) {
        // A part may have been written; without this the next line would be glued to it.
        [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, static_cast<off_t>(size_));
        throw diskError("write", path_.string(), error_number);
    }
    size_ += bytes.size();
}

void AppendFile::sync() {
    if (syncRetrying(descriptor_) != 0) throw diskError("write", path_.string(), errno);
}

}  // namespace roper
