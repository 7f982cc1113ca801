#include "core/control/socket_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/runs/error.h"

namespace roper {

namespace fs = std::filesystem;

fs::path controlFolder() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    const fs::path folder = runtime != nullptr && *runtime != '\0'
                                ? fs::path(runtime) / "roper-lab"
                                : fs::temp_directory_path() / ("roper-lab-" + std::to_string(::getuid()));
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        throw diskError("create", folder.string(), errno);
    struct stat info {};
    if (::lstat(folder.c_str(), &info) != 0) throw diskError("open", folder.string(), errno);
    if (!S_ISDIR(info.st_mode) || info.st_uid != ::getuid() || (info.st_mode & 077) != 0)
        throw Error(
            ErrorKind::disk,
            folder.string() + " must be a folder that you own and that nobody else may enter (mode 0700)");
    return folder;
}

fs::path controlSocketPath() {
    return controlFolder() / (std::to_string(::getpid()) + ".sock");
}

}  // namespace roper
