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

/// Child processes. The destructor waits for their end, and kills those that have not ended after two
/// seconds.
class ChildProcesses {
  public:
    ChildProcesses() = default;
    ~ChildProcesses();
    ChildProcesses(const ChildProcesses&) = delete;
    ChildProcesses& operator=(const ChildProcesses&) = delete;

    void add(pid_t pid) { running_.push_back(pid); }
    /// The exit code of a child that has ended, once for each; nullopt if there is none.
    std::optional<int> exitCode();

  private:
    std::vector<pid_t> running_;
};

/// The other processes of a run, from the viewpoint of the first. They follow its commands, and write
/// nothing.
class Followers {
  public:
    /// Starts `processes` − 1 on this machine or, if srun has started all of them, announces the address of
    /// this process to them.
    /// @param folder  of the run
    /// @throws Error (other)
    Followers(std::int64_t processes, const RunFolder& folder, const Specification& specification);
    /// Ends the other processes.
    ~Followers();
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;

    /// Waits, for at most five minutes, until all have built their models, and connects them.
    /// @param poll  called meanwhile; may throw to cancel the wait
    /// @throws Error thrown by one of them; (preempted) if one was killed; (other) if one ends or is late
    void connect(const std::function<void()>& poll);

    ProcessGroup& group() { return *group_; }

    /// Makes them take this many steps, which this process is about to take.
    void step(std::int64_t count);
    /// Copies the state of this process to them.
    void broadcastState(Transformer& model, AdamW& optimizer, TrainingPosition& position);

  private:
    void sendCommand(std::int64_t command);
    void requireRunning();

    RunFolder folder_;
    bool by_srun_, is_connected_ = false;
    int exceptions_ = std::uncaught_exceptions();  ///< in flight at construction
    ChildProcesses children_;
    std::unique_ptr<ProcessGroup>
        group_;  ///< closed before waiting for the children, to end those that wait for this process
};

/// Takes part in training as a process of rank > 0, until the first process (`trainRun`) ends it.
/// @param first  address at which the first process waits
/// @throws Error, which is also reported to the first process
void followRun(const Address& first, int rank, int size);

/// The same if srun has started all processes of the run and this is not the first.
/// @returns whether this was the case; otherwise nothing is done
bool followIfSrunTask(const RunFolder& folder, std::int64_t processes);

}  // namespace roper
