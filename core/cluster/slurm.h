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

    /// As Slurm's programs name it: "1234_5".
    std::string id() const { return job + "_" + std::to_string(index); }
    bool isPending() const { return state == "PENDING"; }
};

/// Elements of jobs of these names that wait or are at work; those that have ended are not among them.
/// @throws Error (other) saying what `squeue` said, or that this is no machine of a cluster
std::vector<SlurmElement> elementsOfJobs(const std::vector<std::string>& names);

/// What `squeue --format=%j|%F|%K|%T|%N|%r` prints. @throws Error (other) for a line of another form
std::vector<SlurmElement> parseSqueue(std::string_view output);

/// It is not known whether the scheduler has what was submitted.
class SubmissionUnknown : public Error {
  public:
    using Error::Error;
};

/// Hands a batch script to the scheduler, by sbatch's stdin: a file could be exchanged before it is read.
/// @param options  of sbatch, beside those in the script
/// @returns the number of the job
/// @throws Error (other) saying what `sbatch` said; SubmissionUnknown if it has not answered in time
std::string submitScript(const std::string& script, const std::vector<std::string>& options = {});

/// How many elements an array may have (MaxArraySize); 1001, Slurm's default, if it cannot be known.
std::int64_t mostElements();

/// Ends elements, whether they wait or are at work: "1234_5". @throws Error (other)
void cancelElements(const std::vector<std::string>& ids);

/// Puts an element that is at work back among those that wait. @throws Error (other)
void requeueElement(const std::string& id);

/// Whether the scheduler has this element, "1234_5", running, and is not already ending it, because it was
/// cancelled or preempted. @throws Error (other)
bool isRunning(const std::string& id);

}  // namespace roper
