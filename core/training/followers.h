#pragma once

#include <sys/types.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "core/distributed/process_group.h"
#include "core/runs/run_folder.h"
#include "core/training/checkpoint.h"
#include "core/training/optimizer.h"

namespace roper {

/// What the first process of a run tells the others to do: to take so many steps, or one of these.
enum FollowerCommand : std::int64_t { kEnd = 0, kTakeState = -1 };

/// Under these names the group's texts tell a follower what it is to train, and that one is ready.
inline constexpr const char* kSpecificationKey = "specification";
inline constexpr const char* kFolderKey = "folder";
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
    /// @throws Error (other) if one has ended. @param messages  where to read why
    void requireRunning(const std::string& messages);

  private:
    std::vector<pid_t> running_;
};

/// The other processes of a run, as its first one sees them. They do as they are told, and write nothing.
class Followers {
  public:
    /// Starts `processes` − 1 on this machine, or, where srun has started all of them, waits for those.
    /// @param folder  of the run
    /// @throws Error (usage) for more processes than a batch has sequences; Error (other) if they do not
    /// come together; what one of them has thrown
    Followers(std::int64_t processes, const RunFolder& folder, const Specification& specification);
    /// Ends them.
    ~Followers();
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;

    ProcessGroup& group() { return *group_; }

    /// They take so many steps, as this process is about to.
    void step(std::int64_t count);
    /// They take the state of this process.
    void broadcastState(Transformer& model, AdamW& optimizer, TrainingPosition& position);

  private:
    void tell(std::int64_t command);
    void awaitReady(const std::string& messages);

    int exceptions_ = std::uncaught_exceptions();
    ChildProcesses children_;
    std::unique_ptr<ProcessGroup> group_;  ///< goes first: that alone ends who waits for this process
};

}  // namespace roper
