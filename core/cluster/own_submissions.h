#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/cluster/slurm_script.h"
#include "core/cluster/submission.h"

namespace roper {

// What Slurm executes must come only from this user. The options of a submission, which include a program,
// are therefore recorded outside of the runs folder, whose files may have been written by anyone; the folder
// only says which runs belong to a submission.

/// SHA-256 of the lists of runs that the elements of a submission train.
std::string runListFingerprint(const Submission& submission);

/// Options of this user's own submissions from this machine, by job name. Submissions whose list of runs has
/// changed or whose options cannot be parsed are left out.
std::map<std::string, SlurmOptions> ownSubmissions(const std::filesystem::path& runs,
                                                   const std::vector<Submission>& submissions);

/// Records a submission before it reaches the scheduler. If it cannot be recorded, it will not count as own.
void recordSubmission(const std::filesystem::path& runs, const Submission& submission,
                      const SlurmOptions& options);

/// Called when the scheduler has refused it. @throws Error (disk)
void removeSubmissionRecord(const std::filesystem::path& runs, const std::string& name);

}  // namespace roper
