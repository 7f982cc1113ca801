#include "core/base/file_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/base/error.h"
#include "core/base/retry_interrupted.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

int openRetrying(int folder, const char* name, int flags, mode_t mode = 0) {
    return retryInterrupted([&] { return ::openat(folder, name, flags | O_CLOEXEC | O_NOCTTY, mode); });
}

std::string kindOf(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFLNK:
            return "a symbolic link";
        case S_IFDIR:
            return "a folder";
        case S_IFIFO:
            return "a named pipe";
        case S_IFSOCK:
            return "a socket";
        default:
            return "a device";
    }
}

Error notARegularFile(const FilePath& path, mode_t mode) {
    const std::string advice = (mode & S_IFMT) == S_IFLNK
                                   ? ": links in a runs folder are not followed; put the file itself there"
                                   : ", not a file";
    return {ErrorKind::disk, path.string() + " is " + kindOf(mode) + advice};
}

/// Checks after opening, since the file may have been replaced after an earlier check.
Descriptor requireRegular(Descriptor file, const FilePath& path) {
    struct stat info {};
    if (::fstat(file.number(), &info) != 0) throw diskError("open", path.string(), errno);
    if (!S_ISREG(info.st_mode)) throw notARegularFile(path, info.st_mode);
    return file;
}

/// Explains what is in the way if a link or a file is found instead of a folder.
Error cannotEnter(const std::string& folder, int parent, const std::string& name, int error_number) {
    struct stat info {};
    if ((error_number == ELOOP || error_number == ENOTDIR) &&
        ::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
        return {ErrorKind::disk,
                folder +
                    " is a symbolic link: links in a runs folder are not followed; open the folder "
                    "that it points to instead"};
    return diskError("open", folder, error_number);
}

/// The opened folder of a confined file, and the name of the file in it.
struct Entered {
    Descriptor folder;
    std::string name;
};

/// Opens the folder of a confined file by descending one name at a time; empty if a folder is missing.
/// @throws Error (disk) for any other problem
std::optional<Entered> enter(const FilePath& path) {
    const std::string root = path.root().empty() ? "." : path.root().string();
    Entered at{Descriptor(openRetrying(AT_FDCWD, root.c_str(), O_RDONLY | O_DIRECTORY)), {}};
    if (!at.folder) {
        if (errno == ENOENT) return std::nullopt;
        throw diskError("open", root, errno);
    }
    fs::path so_far = path.root();
    for (std::size_t i = 0; i + 1 < path.names().size(); ++i) {
        const std::string& name = path.names()[i];
        so_far /= name;
        const int next = openRetrying(at.folder.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (next < 0 && errno == ENOENT) return std::nullopt;
        if (next < 0) throw cannotEnter(so_far.string(), at.folder.number(), name, errno);
        at.folder = Descriptor(next);
    }
    at.name = path.names().back();
    return at;
}

/// Opens a confined file. Devices and pipes are not opened at all, since that alone may have side
/// effects or block forever.
Descriptor openConfined(const FilePath& path, int flags, mode_t mode, bool may_be_missing) {
    const auto at = enter(path);
    struct stat info {};
    const auto missing = [&]() -> Descriptor {
        if (may_be_missing) return {};
        throw diskError("open", path.string(), ENOENT);
    };
    if (!at) return missing();
    if (::fstatat(at->folder.number(), at->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISREG(info.st_mode)) throw notARegularFile(path, info.st_mode);
    } else if (errno != ENOENT) {
        throw diskError("open", path.string(), errno);
    }
    Descriptor file(
        openRetrying(at->folder.number(), at->name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK, mode));
    if (!file && errno == ENOENT) return missing();
    if (!file) throw diskError("open", path.string(), errno);
    return requireRegular(std::move(file), path);
}

/// Opens a regular file, which may be reached through links.
Descriptor openLinked(const FilePath& path, int flags, bool may_be_missing) {
    struct stat info {};
    Descriptor file;
    if (::stat(path.path().c_str(), &info) == 0) {
        if (!S_ISREG(info.st_mode)) throw notARegularFile(path, info.st_mode);
        file = Descriptor(openRetrying(AT_FDCWD, path.path().c_str(), flags | O_NONBLOCK));
    }
    if (file) return requireRegular(std::move(file), path);
    if (may_be_missing && errno == ENOENT) return {};
    throw diskError("open", path.string(), errno);
}

Descriptor openNamed(const FilePath& path, int flags, mode_t mode, bool may_be_missing) {
    if (path.isConfined()) return openConfined(path, flags, mode, may_be_missing);
    if (path.isRegularOnly()) return openLinked(path, flags, may_be_missing);
    Descriptor file(openRetrying(AT_FDCWD, path.path().c_str(), flags, mode));
    if (file) return file;
    if (may_be_missing && errno == ENOENT) return {};
    throw diskError("open", path.string(), errno);
}

/// Opens the folder itself; empty if it is missing.
Descriptor openFolderIfExists(const FilePath& folder) {
    if (folder.isConfined()) {
        auto at = enter(folder / "any");
        return at ? std::move(at->folder) : Descriptor();
    }
    Descriptor opened(openRetrying(AT_FDCWD, folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    if (!opened && errno != ENOENT) throw diskError("open", folder.string(), errno);
    return opened;
}

}  // namespace

FilePath FilePath::inside(const fs::path& folder, const fs::path& name) {
    if (name.is_absolute() || name.empty())
        throw std::invalid_argument("\"" + name.string() + "\" is not a valid file name");
    FilePath made(folder);
    made.confined_ = true;
    made.root_ = folder;
    return made / name;
}

FilePath FilePath::regular(const fs::path& path) {
    FilePath made(path);
    made.regular_only_ = true;
    return made;
}

FilePath FilePath::operator/(const fs::path& name) const {
    FilePath made = *this;
    made.path_ /= name;
    if (!confined_) return made;
    for (const fs::path& part : name) {
        if (part.empty() || part == ".") continue;
        if (part == ".." || part.has_root_directory())
            throw std::invalid_argument("\"" + name.string() + "\" is outside " + path_.string());
        made.names_.push_back(part.string());
    }
    return made;
}

FilePath FilePath::parent() const {
    FilePath made = *this;
    made.path_ = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
    if (!confined_) return made;
    if (names_.size() == 1) return FilePath(made.path_);
    made.names_.pop_back();
    return made;
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
}

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

Descriptor openFile(const FilePath& path, int flags, mode_t mode) {
    return openNamed(path, flags, mode, false);
}

Descriptor openFileIfExists(const FilePath& path, int flags) {
    return openNamed(path, flags, 0, true);
}

Descriptor openFolderOf(const FilePath& path) {
    Descriptor folder = openFolderIfExists(path.parent());
    if (!folder) throw diskError("open", path.parent().string(), ENOENT);
    return folder;
}

bool pathExists(const FilePath& path) {
    struct stat info {};
    int error_number = 0;
    if (path.isConfined()) {
        const auto at = enter(path);
        if (!at) return false;
        if (::fstatat(at->folder.number(), at->name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
            error_number = errno;
    } else if (::lstat(path.path().c_str(), &info) != 0) {
        error_number = errno;
    }
    if (error_number == 0) return true;
    if (error_number == ENOENT || error_number == ENOTDIR) return false;
    throw diskError("look for", path.string(), error_number);
}

std::vector<std::string> listFolder(const FilePath& folder) {
    std::vector<std::string> names;
    Descriptor opened = openFolderIfExists(folder);
    if (!opened) return names;
    DIR* listing = ::fdopendir(opened.number());
    if (listing == nullptr) throw diskError("read", folder.string(), errno);
    opened.release();
    errno = 0;  // readdir(3) indicates an error only by errno
    while (const dirent* entry = ::readdir(listing)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
        errno = 0;
    }
    const int error_number = errno;
    ::closedir(listing);
    if (error_number != 0) throw diskError("read", folder.string(), error_number);
    std::ranges::sort(names);
    return names;
}

void removeFile(const FilePath& path) {
    const Descriptor folder = openFolderOf(path);
    if (::unlinkat(folder.number(), path.path().filename().c_str(), 0) != 0)
        throw diskError("remove", path.string(), errno);
}

void makeFolder(const FilePath& folder) {
    if (folder.isConfined()) {
        if (folder.names().size() > 1) makeFolder(folder.parent());
        const Descriptor parent = openFolderOf(folder);
        const std::string name = folder.path().filename().string();
        if (::mkdirat(parent.number(), name.c_str(), 0777) == 0) return;
        const int error_number = errno;
        struct stat info {};
        if (error_number != EEXIST || ::fstatat(parent.number(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW))
            throw diskError("create", folder.string(), error_number);
        if (!S_ISDIR(info.st_mode)) throw cannotEnter(folder.string(), parent.number(), name, ENOTDIR);
        return;
    }
    std::error_code error;
    fs::create_directories(folder.path(), error);
    if (error) throw diskError("create", folder.string(), error.value());
}

}  // namespace roper
