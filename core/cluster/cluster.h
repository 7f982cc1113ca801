#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/cluster/own_submissions.h"
#include "core/cluster/sweep_elements.h"

namespace roper {

/// Runs of a folder as it and the scheduler see them.
struct ClusterView {
    std::vector<Submission> submissions;
    std::vector<SlurmElement> active;    ///< elements that wait or run
    std::vector<SweepElement> elements;  ///< a line for each run
    /// The options of the submissions that this user has made from here, by the name of their job. Only these
    /// may be cancelled or submitted again.
    std::map<std::string, SlurmOptions> own;

    /// Elements that wait or run, of the own submissions alone.
    std::vector<SlurmElement> ownActive() const;
};

/// @param sweep  its submissions alone; empty: all of the folder
/// @param names  the runs; empty: those of the submissions, in the order in which they were submitted
/// @throws Error if the scheduler cannot be asked, though it may have some of them, or a submission cannot be
/// read
ClusterView lookAtCluster(const std::filesystem::path& runs, const std::string& sweep = {},
                          const std::vector<std::string>& names = {});

/// The same without asking the scheduler: what was submitted and is not seen to be at work is not known.
/// @throws Error if a submission cannot be read
ClusterView lookAtSubmissions(const std::filesystem::path& runs, const std::string& sweep = {},
                              const std::vector<std::string>& names = {});

/// Those that neither are finished, nor failed, nor are on their way.
std::vector<std::string> missingOf(const std::vector<SweepElement>& elements);

/// Cuts runs into arrays of as many elements as the cluster takes, each of `pack` runs, and says which
/// clusters they are for. @throws Error (usage) for an option that cannot be given for a sweep
std::vector<Submission> plannedArrays(const std::string& sweep, const std::vector<std::string>& names,
                                      const SlurmOptions& options);

/// The batch script of one of them.
std::string scriptOf(const std::filesystem::path& runs, const Submission& array, const SlurmOptions& options);

/// What became of handing runs over.
struct SubmissionReport {
    ClusterView before;
    std::vector<std::string> missing;  ///< runs that were submitted
    std::vector<std::string> jobs;     ///< a number for each array
    std::string cluster;               ///< that has them, where one was named
};

/// Hands what is missing of these runs, which are there, to the scheduler. Nobody else submits anything of
/// the folder meanwhile. @throws Error; what was submitted until then stays
SubmissionReport submitMissing(const std::filesystem::path& runs, const std::string& sweep,
                               const std::vector<std::string>& names, const SlurmOptions& options);

}  // namespace roper
