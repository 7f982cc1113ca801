#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/runs/run_folder.h"
#include "core/runs/run_queue.h"

namespace roper {

/// How a worker pool obtains its queue, changes it, and reports.
struct PoolCallbacks {
    std::filesystem::path runs;
    /// Reads the queue; called repeatedly, since it may change. @throws Error if it is unreadable
    std::function<RunQueue()> read;
    std::function<void(const std::string& run)> remove;  ///< removes a run that needs no more training
    /// Puts runs on hold that cannot be read or fail repeatedly: they stay in the queue but are not started.
    std::function<void(const std::vector<std::string>& runs)> hold;
    std::function<void(const std::string& text)> report;  ///< tells the user
    /// The SHA-256 of the run.toml with which a run may be started; nullopt: the run is not approved and is
    /// put on hold. If the function is null, all runs may be started.
    std::function<std::optional<std::string>(const std::string& run)> approvedFingerprint = {};
};

/// Processes a queue: runs up to its capacity of trainers at a time, each in its own process, until only
/// held runs are left. A trainer that was killed is restarted and resumes; a run trained by another program
/// takes up one slot until it ends.
class WorkerPool {
  public:
    explicit WorkerPool(PoolCallbacks callbacks) : callbacks_(std::move(callbacks)) {}

    /// Stops early on SIGINT or SIGTERM: the trainers then save a checkpoint and exit as preempted.
    /// @returns whether the queue was processed completely
    bool run();

  private:
    struct Slot {
        std::string run;
        std::string device;  ///< empty: that of the specification
    };
    struct Attempts {
        int without_progress = 0;  ///< number of attempts that started from the checkpoint of `step`
        std::int64_t step = -1;    ///< 0: no checkpoint
    };

    void reap();  ///< forgets trainers that have ended
    /// Removes finished runs and starts new ones. @returns whether any are left
    bool processOnce(const RunQueue& queue);
    /// Whether the run can be started now; removes finished runs.
    /// @param busy  number of busy trainers; counts the run if another program trains it
    bool pollEntry(const RunQueue::Entry& entry, int& busy);
    void holdUnreadable();
    Attempts nextAttempt(const RunFolder& folder) const;
    void start(const std::string& run, const RunQueue& queue);
    /// Empty if none is listed or free.
    std::string freeDevice(const RunQueue& queue) const;
    void reportEnd(const RunFolder& folder, const Status& status);

    PoolCallbacks callbacks_;
    std::map<pid_t, Slot> trainers_;
    /// Devices of trainers outside the pool that train runs of the queue, as in status.json.
    std::vector<std::string> devices_of_others_;
    std::map<std::string, Attempts> attempts_;
    std::vector<std::pair<std::string, std::string>> unreadable_;  ///< runs, and why they cannot be read
    std::string problem_;  ///< why the queue could not be read; reported once
};

}  // namespace roper
