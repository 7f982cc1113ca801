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

/// Where a pool of trainers gets its runs from and what it does with those that are done.
struct PoolWork {
    std::filesystem::path runs;
    std::function<RunQueue()>
        read;  ///< called again and again: it may change; throws Error if it is unreadable
    std::function<void(const std::string& run)> remove;  ///< a run that needs no more training
    /// Runs that cannot be read, or end again and again.
    std::function<void(const std::vector<std::string>& runs)> hold;
    std::function<void(const std::string& text)> say;  ///< for a person
    /// The SHA-256 of the run.toml with which a run may be started; one that may not is held. Empty: all may.
    std::function<std::optional<std::string>(const std::string& run)> approved = {};
};

/// Works through a queue: keeps as many trainers going as it has places, each a process of its own, until
/// nothing is left that is not held. A trainer that was killed is started again and resumes; a run that is
/// trained by someone else takes a place and is waited for.
class WorkerPool {
  public:
    explicit WorkerPool(PoolWork work) : work_(std::move(work)) {}

    /// Ends early when the process is told to end (SIGINT, SIGTERM): trainers then save and are preempted.
    /// @returns whether all was done
    bool run();

  private:
    struct Place {
        std::string run;
        std::string device;
    };
    struct Attempts {
        int without_progress = 0;
        std::int64_t step = -1;
    };

    void reap();
    /// Settles what is done and starts what can be. @returns whether there is anything left
    bool workOnce(const RunQueue& queue);
    /// Whether the run can be started now; settles runs that are done.
    bool isWaiting(const RunQueue::Entry& entry, int& busy);
    /// Holds the runs that cannot be read.
    void holdUnreadable();
    bool mayTryAgain(const RunFolder& folder);
    void start(const std::string& run, const RunQueue& queue);
    std::string freeDevice(const RunQueue& queue) const;
    void tellEnd(const RunFolder& folder, const Status& status);

    PoolWork work_;
    std::map<pid_t, Place> trainers_;
    std::vector<std::string> devices_of_others_;  ///< that train runs of the queue, as their status says
    std::map<std::string, Attempts> attempts_;
    std::vector<std::pair<std::string, std::string>> unreadable_;  ///< runs, and why
    std::string problem_;                                          ///< of the queue, told once
};

}  // namespace roper
