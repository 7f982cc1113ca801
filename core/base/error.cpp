#include "core/base/error.h"

#include <cerrno>
#include <cstring>

namespace roper {
namespace {

std::string advice(const std::string& action, int error_number) {
    switch (error_number) {
        case ENOSPC:
        case EDQUOT:
            return " Free some space and try again: nothing recorded so far is lost.";
        case EACCES:
        case EPERM:
        case EROFS:
            if (action == "look for" || action == "read") return "";
            return " Choose a folder that you may write to, with --runs.";
        case EIO:
            return " The disk or the network drive reports a fault; copy important data to another disk.";
        default:
            return "";
    }
}

}  // namespace

Error diskError(const std::string& action, const std::string& path, int error_number) {
    return {ErrorKind::disk, "cannot " + action + " " + path + ": " + std::strerror(error_number) + "." +
                                 advice(action, error_number)};
}

}  // namespace roper
