#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/cluster/slurm_script.h"
#include "core/cluster/submission.h"

namespace roper {

// What Slurm is told to do, a program among it, comes from this user's hand alone. The options of a
// submission are recorded outside of the runs folder, whose files may be anybody's; what the folder says of a
// submission is which runs it holds.

/// SHA-256 of which runs each element of a submission trains.
std::string elementsFingerprint(const Submission& submission);

/// The options of those submissions that this user has made from here, by the name of their job. One that
/// says it holds other runs than it did is not among them, nor one whose options cannot be understood.
std::map<std::string, SlurmOptions> ownSubmissions(const std::filesystem::path& runs,
                                                   const std::vector<Submission>& submissions);

/// Records one before the scheduler has it. One that cannot be recorded counts as somebody else's later.
void rememberSubmission(const std::filesystem::path& runs, const Submission& submission,
                        const SlurmOptions& options);

/// The scheduler has refused it. @throws Error (disk)
void forgetSubmission(const std::filesystem::path& runs, const std::string& name);

}  // namespace roper
