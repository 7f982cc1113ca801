#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace roper {

// Calls Slurm's programs, each in its own process and with a timeout of half a minute. Their behavior was
// checked with Slurm 22.05.

/// One task of an array job, as listed by `squeue`.
struct SlurmArrayTask {
    std::string name;          ///< of the job
    std::string job;           ///< number of the array job
    std::int64_t index = 0;    ///< within the array
    std::string state;         ///< "PENDING", "RUNNING", "COMPLETING", …
    std::string node;          ///< where it runs; empty if pending
    std::string reason;        ///< why it is pending: "Resources", "Priority", "BeginTime"; otherwise empty
    std::string cluster = {};  ///< the cluster that has it; empty: the local one

    /// The array task's name in Slurm's programs: "1234_5".
    std::string id() const { return job + "_" + std::to_string(index); }
    /// For display: "1234_5", or "1234_5 on the cluster far".
    std::string title() const { return cluster.empty() ? id() : id() + " on the cluster " + cluster; }
    bool operator==(const SlurmArrayTask&) const = default;
    bool isPending() const { return state == "PENDING"; }
};

/// Pending and running array tasks of the jobs with these names.
/// @param cluster  the cluster to query, or "all"; empty: the local one
/// @throws Error (other) with the message of `squeue`, or if this machine does not belong to a cluster
std::vector<SlurmArrayTask> queryArrayTasks(const std::vector<std::string>& names,
                                            const std::string& cluster = {});

/// Parses the output of `squeue --format=%j|%F|%K|%T|%N|%r`, with or without headers.
/// @param cluster  the cluster that was queried; with several, a header names each
/// @throws Error (other) for a line in another format
std::vector<SlurmArrayTask> parseSqueue(std::string_view output, const std::string& cluster = {});

/// The scheduler may or may not have accepted the submission.
class SubmissionOutcomeUnknown : public Error {
  public:
    using Error::Error;
};

/// The job that sbatch reports as submitted.
struct SubmittedJob {
    std::string number;   ///< job number, in digits
    std::string cluster;  ///< empty unless a cluster was named
};

/// Passes a batch script to sbatch through stdin, because a file could be replaced before sbatch reads it.
/// @param options      of sbatch, which take precedence over those in the script
/// @param environment  of sbatch (`environmentForSbatch`)
/// @throws Error (other) with the message of `sbatch`; SubmissionOutcomeUnknown if it does not answer in time
SubmittedJob submitScript(const std::string& script, const std::vector<std::string>& options,
                          const std::vector<std::string>& environment);

/// A cluster's settings.
struct ClusterSettings {
    std::string name;  ///< empty if unknown
    /// Maximal number of tasks in an array (MaxArraySize); Slurm's default if unknown.
    std::int64_t max_array_size = 1001;
};

/// @param cluster  the cluster to query; empty: the local one
ClusterSettings clusterSettings(const std::string& cluster = {});

/// Cancels pending and running array tasks. @throws Error (other), after trying all clusters
void cancelArrayTasks(const std::vector<SlurmArrayTask>& array_tasks);

/// Returns a running array task to the queue. @throws Error (other)
void requeueArrayTask(const SlurmArrayTask& array_task);

/// Whether the local scheduler has this array task, "1234_5", running and has not begun to end it because of
/// a cancellation or preemption. @throws Error (other)
bool isRunning(const std::string& id);

}  // namespace roper
