#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/file_path.h"

namespace roper {

/// Exclusive lock on a file, which is created, for its owner only, if missing. The lock is released when the
/// object is destroyed or the process ends in any way. On a shared file system it may not extend beyond this
/// machine, and on file systems without locks (Lustre unless mounted with them) it is always granted: use
/// `Lease` between machines.
class FileLock {
  public:
    /// Called ten times a second while another process holds the lock, with "process 4711 on host"; returning
    /// false ends the wait.
    using WaitCallback = std::function<bool(const std::string& holder)>;

    /// Takes the lock when it is free; waits as long as `on_wait` returns true.
    /// @throws Error (disk) if the file cannot be created or locked
    explicit FileLock(const FilePath& path, const WaitCallback& on_wait = {});

    bool held() const { return held_; }
    /// The last holder, if the lock is not ours.
    const std::string& holder() const { return holder_; }

  private:
    Descriptor file_;
    bool held_ = false;
    std::string holder_;
};

/// Whether a process on this machine, in any container, holds the lock. Unlike an attempt to lock, this never
/// takes it. False if the file is missing; empty if it belongs to another user or its file system has no such
/// locks.
std::optional<bool> isLockHeld(const FilePath& path);

/// A `FileLock::WaitCallback` that gives up after `seconds`. @throws Error (usage) naming the holder of
/// `what`; Error (preempted) if the process is asked to end meanwhile
FileLock::WaitCallback waitAtMost(double seconds, const std::string& what);

}  // namespace roper
