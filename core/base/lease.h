#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/file_path.h"

namespace roper {

/// A process, so that others can tell whether it is still there.
struct ProcessIdentity {
    std::string host, boot, pid_namespace;  ///< as in core/base/this_process.h
    std::int64_t pid = 0;
    std::uint64_t start = 0;

    static ProcessIdentity ofThisProcess();
    /// "process 4711 on node3".
    std::string name() const;
    bool operator==(const ProcessIdentity&) const = default;
};

/// The right to write into a folder that several machines share, which holds without locks of the file
/// system: those of NFS and Lustre do not reach over machines everywhere.
///
/// The folder holds a file lease.N, and the highest N has the right. To take it is to make lease.(N + 1),
/// which only one can (O_EXCL), and is allowed when lease.N was released, when its process was of this
/// machine and is gone, or when its last heartbeat is `kExpires_s` old. A heartbeat is the file's time, set
/// every ten seconds; its age is measured against the time of a file made now, so both are the file server's
/// and no two clocks need agree. A holder that was silent too long (suspended, cut off) finds a higher
/// number, and must not write any more.
class Lease {
  public:
    static constexpr double kExpires_s = 60, kRenewal_s = 10;

    /// Waits for a holder on another machine of which it is not known whether it lives, until its next
    /// heartbeat, or until the last is too old.
    /// @param say  told once, for a person, that it waits and for whom
    /// @throws Error (usage) naming who holds it; Error (preempted) if told to end meanwhile; Error (disk)
    explicit Lease(const FilePath& folder, const std::function<void(const std::string&)>& say = {},
                   double expires_s = kExpires_s, ProcessIdentity me = ProcessIdentity::ofThisProcess());
    /// Releases it, so that the next need not wait.
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// Before every write. Looks at the folder only if the last heartbeat is not recent.
    /// @throws Error (other) if another process has taken it over; Error (disk) if the last heartbeat is not
    /// recent and there can be none now: then another process may take it over at any time
    void requireHeld();

    /// A heartbeat now; `requireHeld` and a thread of its own do this. @returns whether it is still held
    bool renew();

    std::int64_t number() const { return number_; }

  private:
    void keepAlive();

    FilePath folder_;
    double expires_s_;
    ProcessIdentity me_;
    std::int64_t number_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ending_ = false, lost_ = false;
    double renewed_ = 0;  ///< by a clock that counts while the machine is suspended
    std::thread keeper_;
};

}  // namespace roper
