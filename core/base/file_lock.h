#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/file_path.h"

namespace roper {

/// The exclusive lock of a file, which is made if it is not there, for its owner alone. It ends with the
/// object or with the process, however that ends. Over a shared folder it may reach no further than this
/// machine, and where the file system has no locks (Lustre unless it is mounted with them) everybody gets it:
/// `Lease` is what machines agree by.
class FileLock {
  public:
    /// Called ten times a second while somebody else holds the lock, with "process 4711 on host"; false ends
    /// the waiting.
    using Waiting = std::function<bool(const std::string& holder)>;

    /// Takes the lock if it is free, or waits for it as long as `waiting` says.
    /// @throws Error (disk) if the file cannot be made, or cannot be locked at all
    explicit FileLock(const FilePath& path, const Waiting& waiting = {});

    bool held() const { return held_; }
    /// The last holder's, if it is not ours.
    const std::string& holder() const { return holder_; }

  private:
    Descriptor file_;
    bool held_ = false;
    std::string holder_;
};

/// Whether some process on this machine, of any container, holds the lock. Does not take it for a moment, as
/// trying would. Nothing if that cannot be known: no file, another owner's, or a file system without such
/// locks.
std::optional<bool> lockIsHeld(const FilePath& path);

/// A `FileLock::Waiting` that gives up after `seconds`. @throws Error (usage) saying who holds `what`; Error
/// (preempted) if the process is told to end meanwhile
FileLock::Waiting waitAtMost(double seconds, const std::string& what);

}  // namespace roper
