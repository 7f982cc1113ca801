#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/file_path.h"

namespace roper {

/// What was handed to a scheduler at once, an array: RUNS/slurm/NAME.json, beside its batch script NAME.sh
/// and the output of its elements, NAME-INDEX.log. Written before the scheduler has it, which knows it by its
/// name. The file may be anybody's, and so says nothing of how the runs are trained (`ownSubmissions`).
struct Submission {
    std::string name;                                ///< of the job, which no other has
    std::string sweep;                               ///< name of the sweep
    std::vector<std::vector<std::string>> elements;  ///< names of the runs that each trains
    double time = 0;                                 ///< when it was submitted, in seconds since 1970, UTC
    bool ended = false;                              ///< the scheduler no longer had any of it
    std::string job = {};  ///< its number; empty where the scheduler has not said it has it
    /// Name of the cluster that has it; until that is known, those that may ("far,near"). Empty: that of any
    /// machine that asks.
    std::string cluster = {};

    bool operator==(const Submission&) const = default;
};

/// RUNS/slurm, where submissions are kept.
FilePath submissionsFolder(const std::filesystem::path& runs);

/// What an element has printed: its trainers' ends, and why it failed.
FilePath logOf(const std::filesystem::path& runs, const std::string& job_name, std::int64_t element);

/// One of no runs yet, with a name for its job that no other has: "SWEEP.k3f9x2".
Submission newSubmission(const std::string& sweep);

/// How long before `now` it was submitted, in seconds. A time ahead of the clock, beyond what the clocks of
/// two machines may differ by, counts as long ago.
double ageOf(const Submission& submission, double now);

/// The file that holds the submission of this name.
FilePath submissionPath(const std::filesystem::path& runs, const std::string& name);

/// @throws Error (disk)
void writeSubmission(const std::filesystem::path& runs, const Submission& submission);

/// @throws Error (usage) saying what is wrong with the file, Error (disk)
Submission readSubmission(const FilePath& path);

/// Those of one sweep, or of all for an empty name, the oldest first; a time ahead of the clock counts as the
/// oldest. A file that cannot be read is an error: what it holds may be trained now. @throws Error
std::vector<Submission> submissionsOf(const std::filesystem::path& runs, const std::string& sweep);

}  // namespace roper
