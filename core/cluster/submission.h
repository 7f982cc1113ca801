#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/file_path.h"

namespace roper {

/// An array job submitted to a scheduler: RUNS/slurm/NAME.json, next to its batch script NAME.sh and the
/// output of its elements, NAME-INDEX.log. The file is written before the submission, and the scheduler knows
/// the job by this name. Because anyone may have written the file, it does not say how runs are trained
/// (`ownSubmissions`).
struct Submission {
    std::string name;                                   ///< of the job, unique
    std::string sweep;                                  ///< name of the sweep
    std::vector<std::vector<std::string>> array_tasks;  ///< names of the runs that each element trains
    double time = 0;                                    ///< time of submission, seconds since 1970, UTC
    bool ended = false;                                 ///< the scheduler no longer had any of its elements
    std::string job = {};  ///< job number; empty until the scheduler has confirmed it
    /// Name of the cluster that has the job; until known, the possible ones ("far,near"). Empty: the local
    /// cluster.
    std::string cluster = {};

    bool operator==(const Submission&) const = default;
};

/// RUNS/slurm, the folder of submissions.
FilePath submissionsFolder(const std::filesystem::path& runs);

/// Output of an element: how its trainers ended, and errors.
FilePath arrayTaskLogPath(const std::filesystem::path& runs, const std::string& job_name,
                          std::int64_t array_task);

/// A submission without runs, with a unique job name such as "SWEEP.k3f9x2".
Submission newSubmission(const std::string& sweep);

/// Seconds since its submission. A time further in the future than clocks may differ counts as long ago.
double secondsSinceSubmission(const Submission& submission, double now);

/// Path of the submission with this name.
FilePath submissionPath(const std::filesystem::path& runs, const std::string& name);

/// @throws Error (disk)
void writeSubmission(const std::filesystem::path& runs, const Submission& submission);

/// @throws Error (usage) saying what is wrong with the file, Error (disk)
Submission readSubmission(const FilePath& path);

/// Submissions of a sweep, or all if the name is empty, oldest first; a time in the future counts as oldest.
/// An unreadable file is an error, because its runs may be in training. @throws Error
std::vector<Submission> readSubmissions(const std::filesystem::path& runs, const std::string& sweep);

}  // namespace roper
