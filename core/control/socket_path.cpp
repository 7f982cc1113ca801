#include "core/control/socket_path.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file_path.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {

namespace fs = std::filesystem;

static constexpr const char* kFolderName = "roper-lab";
static constexpr const char* kExtension = ".sock";

static fs::path temporaryFolder() {
    std::error_code missing;
    const fs::path folder = fs::temp_directory_path(missing);
    if (!missing) return folder;
    throw Error(ErrorKind::disk, "TMPDIR is \"" + environmentVariable("TMPDIR") +
                                     "\", which is not a folder: set it to a writable folder");
}

static std::string folderNameInTemporary() {
    return "roper-lab-" + std::to_string(::getuid());
}

/// Whether it is a folder, not a link, accessible only to this user.
static bool isOwnedExclusively(const struct stat& info) {
    return S_ISDIR(info.st_mode) && info.st_uid == ::getuid() && (info.st_mode & 077) == 0;
}

fs::path controlFolder() {
    const fs::path runtime = environmentVariable("XDG_RUNTIME_DIR");
    // The XDG Base Directory Specification requires relative paths to be ignored.
    const fs::path folder =
        runtime.is_absolute() ? runtime / kFolderName : temporaryFolder() / folderNameInTemporary();
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        throw diskError("create", folder.string(), errno);
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0) throw diskError("open", folder.string(), errno);
    if (!isOwnedExclusively(info))
        throw Error(
            ErrorKind::disk,
            folder.string() + " must be a folder that you own and that nobody else may enter (mode 0700)");
    return folder;
}

bool isOwnControlSocket(const fs::path& path) {
    const fs::path folder = path.parent_path();
    const std::string name = folder.filename().string();
    if (!path.is_absolute() || path.extension() != kExtension || !parseInteger(path.stem().string()) ||
        (name != kFolderName && name != folderNameInTemporary()))
        return false;
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0 || !isOwnedExclusively(info)) return false;
    // A missing socket is harmless. A link is not: an archive may contain such a folder with a link in it.
    if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT;
    return S_ISSOCK(info.st_mode) && info.st_uid == ::getuid();
}

std::optional<sockaddr_un> socketAddress(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.string().size() >= sizeof address.sun_path) return std::nullopt;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    return address;
}

namespace {

/// Removes sockets without a listener, whose trainers were killed.
void removeDeadSockets(const fs::path& folder) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        // A trainer that is starting also refuses connections, between bind and listen, but its process
        // exists.
        const auto pid = parseInteger(entry.path().stem().string());
        if (!pid || *pid <= 0 || ::kill(static_cast<pid_t>(*pid), 0) == 0 || errno != ESRCH) continue;
        const auto address = socketAddress(entry.path());
        if (entry.path().extension() != kExtension || !address) continue;
        const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!probe) return;
        const bool refused =
            ::connect(probe.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 &&
            errno == ECONNREFUSED;
        if (refused) ::unlink(entry.path().c_str());
    }
}

}  // namespace

fs::path controlSocketPath() {
    removeDeadSockets(controlFolder());
    return controlFolder() / (std::to_string(::getpid()) + kExtension);
}

}  // namespace roper
