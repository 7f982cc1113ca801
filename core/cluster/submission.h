#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/file_path.h"
#include "core/cluster/slurm_script.h"

namespace roper {

/// An array job submitted to a scheduler: RUNS/slurm/NAME.json, next to its batch script NAME.sh and the
/// output of its array tasks, NAME-INDEX.log. The file is written before the submission, and the scheduler
/// knows the job by this name. Because anyone may have written the file, it does not say how runs are trained
/// (`ownSubmissions`).
struct Submission {
    std::string name;                                   ///< of the job, unique
    std::string sweep;                                  ///< name of the sweep
    std::vector<std::vector<std::string>> array_tasks;  ///< names of the runs that each array task trains
    double time = 0;                                    ///< time of submission, seconds since 1970, UTC
    bool ended = false;    ///< the scheduler no longer had any of its array tasks
    std::string job = {};  ///< job number; empty until the scheduler has confirmed it
    /// Name of the cluster that has the job; until known, the possible ones ("far,near"). Empty: the local
    /// cluster.
    std::string cluster = {};

    bool operator==(const Submission&) const = default;
};

/// RUNS/slurm, the folder of submissions.
FilePath submissionsFolder(const std::filesystem::path& runs);

/// Output of an array task: how its trainers ended, and errors.
FilePath arrayTaskLogPath(const std::filesystem::path& runs, const std::string& job_name,
                          std::int64_t array_task);

/// A submission without runs, with a unique job name such as "SWEEP.k3f9x2".
Submission newSubmission(const std::string& sweep);

/// Seconds since its submission; infinite if that time is more than ten minutes in the future.
double secondsSinceSubmission(const Submission& submission, double now);

/// Path of the submission with this name.
FilePath submissionPath(const std::filesystem::path& runs, const std::string& name);

/// @throws Error (disk)
void writeSubmission(const std::filesystem::path& runs, const Submission& submission);

/// @throws Error (usage) saying what is wrong with the file, Error (disk)
Submission readSubmission(const FilePath& path);

/// Submissions of a sweep, or all if the name is empty, by descending `secondsSinceSubmission`.
/// An unreadable file is an error, because its runs may be in training. @throws Error
std::vector<Submission> readSubmissions(const std::filesystem::path& runs, const std::string& sweep);

// What Slurm executes must come only from this user. The options of a submission, which include a program,
// are therefore recorded outside of the runs folder, whose files may have been written by anyone; the folder
// only says which runs belong to a submission.

/// SHA-256 of the lists of runs that the array tasks of a submission train.
std::string runListFingerprint(const Submission& submission);

/// Options of this user's own submissions from this machine, by job name. Submissions whose list of runs has
/// changed or whose options cannot be parsed are left out.
std::map<std::string, SlurmOptions> ownSubmissions(const std::filesystem::path& runs,
                                                   const std::vector<Submission>& submissions);

/// Records a submission before it reaches the scheduler. If it cannot be recorded, it will not count as own.
void recordSubmission(const std::filesystem::path& runs, const Submission& submission,
                      const SlurmOptions& options);

/// To be called when the scheduler has refused the submission. @throws Error (disk)
void removeSubmissionRecord(const std::filesystem::path& runs, const std::string& name);

}  // namespace roper
