#pragma once

#include <sys/un.h>

#include <filesystem>
#include <optional>

namespace roper {

/// The folder of control sockets: $XDG_RUNTIME_DIR/roper-lab, or roper-lab-UID in the temporary folder. It is
/// created if missing, accessible only to its owner. @throws Error (disk) if it belongs to another user or is
/// accessible to others
std::filesystem::path controlFolder();

/// Whether a path is a control socket that only this user can have created: PID.sock in a folder as returned
/// by `controlFolder`. The path of a trainer's socket is read from a status file, which may come from anyone
/// and could name the socket of another program.
bool isOwnControlSocket(const std::filesystem::path& path);

/// The socket address of a path; empty if the path is too long for one.
std::optional<sockaddr_un> socketAddress(const std::filesystem::path& path);

/// Path of this process's control socket. Never too long for a socket address.
std::filesystem::path controlSocketPath();

}  // namespace roper
