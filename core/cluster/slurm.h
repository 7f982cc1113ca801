#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace roper {

// Slurm's own programs, each called in a process of its own and given up after half a minute. What is said of
// them was tried with Slurm 22.05.

/// One element of an array job, as `squeue` lists it.
struct SlurmElement {
    std::string name;        ///< of the job
    std::string job;         ///< number of the array
    std::int64_t index = 0;  ///< in the array
    std::string state;       ///< "PENDING", "RUNNING", "COMPLETING", …
    std::string node;        ///< where it is; empty while it waits
    std::string reason;      ///< why it waits: "Resources", "Priority", "BeginTime"; empty where it does not
    std::string cluster = {};  ///< that has it; empty: this machine's own

    /// As Slurm's programs name it: "1234_5".
    std::string id() const { return job + "_" + std::to_string(index); }
    /// For a person: "1234_5", or "1234_5 on the cluster far".
    std::string title() const { return cluster.empty() ? id() : id() + " on the cluster " + cluster; }
    bool operator==(const SlurmElement&) const = default;
    bool isPending() const { return state == "PENDING"; }
};

/// Elements of jobs of these names that wait or are at work; those that have ended are not among them.
/// @param cluster  that is asked, or "all"; empty: this machine's own
/// @throws Error (other) saying what `squeue` said, or that this is no machine of a cluster
std::vector<SlurmElement> elementsOfJobs(const std::vector<std::string>& names,
                                         const std::string& cluster = {});

/// What `squeue --format=%j|%F|%K|%T|%N|%r` prints, with or without its headers.
/// @param cluster  that was asked; a header of several names each
/// @throws Error (other) for a line of another form
std::vector<SlurmElement> parseSqueue(std::string_view output, const std::string& cluster = {});

/// It is not known whether the scheduler has what was submitted.
class SubmissionUnknown : public Error {
  public:
    using Error::Error;
};

/// What sbatch says that it has submitted.
struct SubmittedJob {
    std::string number;
    std::string cluster;  ///< empty unless a cluster was named
};

/// Hands a batch script to the scheduler, by sbatch's stdin: a file could be exchanged before it is read.
/// @param options      of sbatch, which count before those in the script
/// @param environment  of sbatch (`environmentForSbatch`)
/// @throws Error (other) saying what `sbatch` said; SubmissionUnknown if it has not answered in time
SubmittedJob submitScript(const std::string& script, const std::vector<std::string>& options,
                          const std::vector<std::string>& environment);

/// What a cluster says of itself.
struct ClusterSettings {
    std::string name;                   ///< empty if it cannot be known
    std::int64_t most_elements = 1001;  ///< of an array (MaxArraySize); Slurm's default if it cannot be known
};

/// @param cluster  that is asked; empty: this machine's own
ClusterSettings clusterSettings(const std::string& cluster = {});

/// Ends elements, whether they wait or are at work. @throws Error (other), after having tried all clusters
void cancelElements(const std::vector<SlurmElement>& elements);

/// Puts an element that is at work back among those that wait. @throws Error (other)
void requeueElement(const SlurmElement& element);

/// Whether this machine's scheduler has this element, "1234_5", running, and is not already ending it,
/// because it was cancelled or preempted. @throws Error (other)
bool isRunning(const std::string& id);

}  // namespace roper
