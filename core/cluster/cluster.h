#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/cluster/submission.h"
#include "core/cluster/sweep_run_status.h"

namespace roper {

/// The runs of a folder, combining the folder's files with the scheduler's state.
struct ClusterView {
    std::vector<Submission> submissions;
    std::vector<SlurmArrayTask> active;  ///< pending and running array tasks
    std::vector<SweepRunStatus> runs;    ///< one for each run
    /// Options of this user's own submissions from this machine, by job name. Only these may be cancelled or
    /// resubmitted.
    std::map<std::string, SlurmOptions> own_submissions;

    /// Pending and running array tasks of own submissions.
    std::vector<SlurmArrayTask> ownActiveTasks() const;
};

/// @param sweep  only its submissions; empty: all in the folder
/// @param names  the runs; empty: those of the submissions, in order of submission
/// @throws Error if the scheduler may have some of them but cannot be queried, or if a submission cannot be
/// read
ClusterView queryCluster(const std::filesystem::path& runs, const std::string& sweep = {},
                         const std::vector<std::string>& names = {});

/// The same without querying the scheduler: submitted runs that are not visibly running are marked as
/// unknown.
/// @throws Error if a submission cannot be read
ClusterView readClusterView(const std::filesystem::path& runs, const std::string& sweep = {},
                            const std::vector<std::string>& names = {});

/// Runs that are neither finished nor failed nor submitted; not those of unknown state.
std::vector<std::string> runsToSubmit(const std::vector<SweepRunStatus>& runs);

/// Divides runs into array jobs that the cluster accepts, with `pack` runs per array task, and sets the
/// cluster of each.
/// @throws Error (usage) for an option that a sweep cannot have
std::vector<Submission> planArrays(const std::string& sweep, const std::vector<std::string>& names,
                                   const SlurmOptions& options);

/// The batch script of an array job.
std::string batchScript(const std::filesystem::path& runs, const Submission& array,
                        const SlurmOptions& options);

/// The result of submitting runs.
struct SubmissionReport {
    ClusterView before;                       ///< before the submission
    std::vector<std::string> runs_to_submit;  ///< names of the submitted runs
    std::vector<std::string> jobs;            ///< job number of each array
    std::string cluster;                      ///< the cluster that accepted them, if one was named
};

/// Submits the runs that still have to be trained (`runsToSubmit`); all must exist. A lock prevents others
/// from submitting in this folder at the same time. @throws Error; arrays submitted before the error remain
SubmissionReport submitRuns(const std::filesystem::path& runs, const std::string& sweep,
                            const std::vector<std::string>& names, const SlurmOptions& options);

}  // namespace roper
