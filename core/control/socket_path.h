#pragma once

#include <sys/un.h>

#include <filesystem>
#include <optional>

namespace roper {

/// The folder of control sockets: $XDG_RUNTIME_DIR/roper-lab, or roper-lab-UID in the temporary folder. Made
/// if needed, for its owner alone. @throws Error (disk) if it is not ours or others may enter it
std::filesystem::path controlFolder();

/// Whether a path names a control socket that only this user can have made: PID.sock in a folder of the kind
/// of `controlFolder`. Where a trainer listens is read from a status, which may be anybody's and could name
/// the socket of any other program.
bool isOwnControlSocket(const std::filesystem::path& path);

/// The address of a socket in the file system; nothing if the path is longer than one can be.
std::optional<sockaddr_un> socketAddress(const std::filesystem::path& path);

/// A path for the control socket of this process. Never longer than a socket's address can be.
std::filesystem::path controlSocketPath();

}  // namespace roper
