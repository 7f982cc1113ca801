#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/slurm.h"
#include "core/cluster/submission.h"
#include "core/runs/run_folder.h"

namespace roper {

/// A run of a sweep as both its folder and the scheduler see it.
struct SweepElement {
    std::string run;
    std::optional<RunState> state;        ///< nothing where there is no such run yet
    Status status;                        ///< as its trainer last wrote it
    std::optional<SlurmElement> element;  ///< that waits with this run, or is at work on it
    std::string problem;                  ///< why it cannot be read, or how it failed

    bool isFinished() const { return state == RunState::finished; }
    /// Whether the scheduler, or a trainer that it did not start, has it.
    bool isTaken() const;
    /// A line for a person: "running on node3 (1234_5), step 120 of 500".
    std::string describe() const;
};

/// One for each of the runs, in their order.
/// @param submissions  of the sweep
/// @param elements     what the scheduler has of them
std::vector<SweepElement> sweepElements(const std::filesystem::path& runs,
                                        const std::vector<std::string>& names,
                                        const std::vector<Submission>& submissions,
                                        const std::vector<SlurmElement>& elements);

/// "200 runs: 120 finished, 3 running, 77 waiting".
std::string summaryOf(const std::vector<SweepElement>& elements);

}  // namespace roper
