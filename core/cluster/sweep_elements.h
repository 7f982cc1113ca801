#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/slurm.h"
#include "core/cluster/submission.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Where a run of a sweep is on its way.
enum class Stage { finished, running, waiting, failed, unfinished, not_submitted, unknown };
/// "not submitted".
const char* nameOf(Stage stage);

/// A run of a sweep as both its folder and the scheduler see it.
struct SweepElement {
    std::string run;
    std::optional<RunState> state;        ///< nothing where there is no such run yet
    Status status;                        ///< as its trainer last wrote it
    std::optional<SlurmElement> element;  ///< that waits with this run, or is at work on it
    std::string problem;                  ///< why it cannot be read, or how it failed
    bool is_known = true;  ///< otherwise it was submitted, and the scheduler could not be asked

    Stage stage() const;
    bool isFinished() const { return state == RunState::finished; }
    /// How much of it is trained, 0 to 1.
    double progress() const;
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
