#pragma once

#include <sys/types.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/distributed/process_group.h"
#include "core/runs/run_folder.h"
#include "core/training/checkpoint.h"
#include "core/training/optimizer.h"

namespace roper {

/// What the first process of a run tells the others to do: to take so many steps, or one of these.
enum FollowerCommand : std::int64_t { kEnd = 0, kTakeState = -1 };

// Names of the group's texts: what a follower is to train, that it has made its model, and that all have.
inline constexpr const char* kSpecificationKey = "specification";
inline constexpr const char* kFolderKey = "folder";
inline constexpr const char* kAllReadyKey = "all ready";
std::string readyKey(int rank);

/// Processes that this one has started. Its end waits for theirs, and kills what has not ended after two
/// seconds.
class ChildProcesses {
  public:
    ChildProcesses() = default;
    ~ChildProcesses();
    ChildProcesses(const ChildProcesses&) = delete;
    ChildProcesses& operator=(const ChildProcesses&) = delete;

    void add(pid_t pid) { running_.push_back(pid); }
    /// The exit code of one that has ended; nothing while all run.
    std::optional<int> exitCode();

  private:
    std::vector<pid_t> running_;
};

/// The other processes of a run, as its first one sees them. They do as they are told, and write nothing.
class Followers {
  public:
    /// Starts `processes` − 1 on this machine, or, where srun has started all of them, tells those where this
    /// one waits.
    /// @param folder  of the run
    /// @throws Error (other)
    Followers(std::int64_t processes, const RunFolder& folder, const Specification& specification);
    /// Ends them.
    ~Followers();
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;

    /// Waits until all have made their models, for at most five minutes, and connects them.
    /// @param poll  called meanwhile; what it throws ends the waiting
    /// @throws Error what one of them has thrown; (preempted) if one is gone; (other) if one does not come
    void connect(const std::function<void()>& poll);

    ProcessGroup& group() { return *group_; }

    /// They take so many steps, as this process is about to.
    void step(std::int64_t count);
    /// They take the state of this process.
    void broadcastState(Transformer& model, AdamW& optimizer, TrainingPosition& position);

  private:
    void tell(std::int64_t command);
    void requireRunning();

    RunFolder folder_;
    bool by_srun_, is_connected_ = false;
    int exceptions_ = std::uncaught_exceptions();
    ChildProcesses children_;
    std::unique_ptr<ProcessGroup>
        group_;  ///< closed before the children are waited for, which ends those that wait for this process
};

}  // namespace roper
