#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/slurm.h"
#include "core/cluster/submission.h"
#include "core/runs/run_folder.h"

namespace roper {

/// State of a run of a sweep. `waiting`: submitted but not running; `unfinished`: trained in part.
enum class SweepRunStage { finished, running, waiting, failed, unfinished, not_submitted, unknown };
/// For display, such as "not submitted".
const char* nameOf(SweepRunStage stage);

/// A run of a sweep, combining its folder with the scheduler's state.
struct SweepRunStatus {
    std::string run;
    std::optional<RunState> state;             ///< empty if the run does not exist yet
    Status status;                             ///< last written by its trainer
    std::optional<SlurmArrayTask> array_task;  ///< pending or running array task with this run
    std::string problem;                       ///< why it cannot be read, or how it failed
    bool is_state_known = true;  ///< false if it was submitted and the scheduler could not be queried

    SweepRunStage stage() const;
    bool isFinished() const { return state == RunState::finished; }
    /// Fraction of the training that is done, 0 to 1.
    double progress() const;
    /// Whether the scheduler has it, or any trainer is working on it.
    bool isSubmittedOrRunning() const;
    /// A line for display: "running on node3 (1234_5), step 120 of 500".
    std::string describe() const;
};

/// The status of each run, in the given order.
/// @param submissions  of the sweep
/// @param array_tasks  pending and running ones
std::vector<SweepRunStatus> sweepRunStatuses(const std::filesystem::path& runs,
                                             const std::vector<std::string>& names,
                                             const std::vector<Submission>& submissions,
                                             const std::vector<SlurmArrayTask>& array_tasks);

/// "200 runs: 120 finished, 3 running, 77 waiting".
std::string summaryOf(const std::vector<SweepRunStatus>& runs);

}  // namespace roper
