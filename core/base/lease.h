#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/file_path.h"

namespace roper {

/// Identifies a process, so that others can tell whether it is still running.
struct ProcessIdentity {
    std::string host, boot, pid_namespace;  ///< `thisHost`, `thisBoot`, `thisPidNamespace`
    std::int64_t pid = 0;
    std::uint64_t start = 0;  ///< `processStart`

    static ProcessIdentity ofThisProcess();
    /// "process 4711 on node3".
    std::string name() const;
    bool operator==(const ProcessIdentity&) const = default;
};

/// Exclusive write access to a folder shared by several machines. Unlike `FileLock` it does not rely on locks
/// of the file system, since those of NFS and Lustre do not always work between machines.
///
/// The folder contains files lease.N, of which the highest N is valid. A process takes the lease by creating
/// lease.(N + 1), which only one can do (O_EXCL). It may do so if lease.N was released, if the holder was a
/// process of this machine that has ended, or if the last heartbeat is `kExpiry_s` old. A heartbeat sets the
/// file's modification time every ten seconds; its age is measured against the time of a newly created file,
/// so both times are the file server's and clocks need not agree. A holder that sent no heartbeat for too
/// long (suspended, disconnected) finds a higher number, and must not write any more.
class Lease {
  public:
    static constexpr double kExpiry_s = 60, kRenewal_s = 10;

    /// Waits while a holder on another machine may still be alive: until its next heartbeat, or until its
    /// last one has expired.
    /// @param report  called once, with a message for the user that it waits and for which process
    /// @throws Error (usage) naming the holder; Error (preempted) if asked to end meanwhile; Error (disk)
    explicit Lease(const FilePath& folder, const std::function<void(const std::string&)>& report = {},
                   double expires_s = kExpiry_s, ProcessIdentity identity = ProcessIdentity::ofThisProcess());
    /// Releases the lease, so that the next holder need not wait.
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// Checks that this process still holds the lease. Must be called before every write. Accesses the folder
    /// only if the last heartbeat is not recent.
    /// @throws Error (other) if another process has taken over the lease; Error (disk) if the last heartbeat
    /// is not recent and a new one fails, since another process may then take over at any time
    void requireLease();

    /// Sends a heartbeat now; called by `requireLease` and a background thread. @returns whether the
    /// lease is still held
    bool renew();

    std::int64_t number() const { return number_; }  ///< N of lease.N

  private:
    void sendHeartbeats();

    FilePath folder_;
    double expires_s_;
    ProcessIdentity identity_;
    std::int64_t number_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ending_ = false, lost_ = false;
    /// time of the last heartbeat in seconds, on a clock that also runs while the machine is suspended
    double renewed_ = 0;
    std::thread heartbeat_thread_;
};

}  // namespace roper
