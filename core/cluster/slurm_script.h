#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// The user's options for training a sweep with Slurm.
struct SlurmOptions {
    /// as for sbatch (gres: generic resources, such as "gpu:1"); empty: the cluster's default
    std::string partition, gres, time;
    std::int64_t at_once = 0;       ///< maximal number of simultaneous array tasks; 0: unlimited
    std::int64_t pack = 1;          ///< number of runs that one array task trains in sequence
    std::vector<std::string> more;  ///< further options of sbatch, such as "--account=physics"
    std::string program;  ///< command line that starts the trainer on a node; empty: the path of this program

    bool operator==(const SlurmOptions&) const = default;
};

/// Value of --array, such as "0-199%16": the tasks of an array, and how many may run at the same time.
std::string arrayOption(std::int64_t array_tasks, const SlurmOptions& options);

/// The batch script of an array. Its tasks write their output to FOLDER/NAME-INDEX.log.
///
/// Two minutes before the time limit the scheduler sends SIGTERM to the trainer, which saves a checkpoint and
/// returns the task to the queue. (B: signals the batch script's process, which has become the trainer;
/// without it, only job steps started by srun would be signaled.) `--requeue` does the same when a node fails
/// or the job is preempted.
/// @param name        of the job
/// @param array_tasks  number of array tasks
/// @param submission  the file that lists the runs of each task
/// @param fingerprint  of that file, which tasks verify (`runListFingerprint`); empty: none
/// @throws Error (usage) for an option with a line break, or one that sweeps set themselves
std::string slurmScript(const std::string& name, std::int64_t array_tasks,
                        const std::filesystem::path& submission, const SlurmOptions& options,
                        const std::string& fingerprint = {});

// Slurm's programs also take options from environment variables, which can distort the output of queries:
// with SQUEUE_STATES=RUNNING, squeue lists no pending array tasks. For sbatch, variables take precedence over
// lines of the script, and the command line over both.

/// An option of sbatch by its long name, without dashes.
struct SbatchOption {
    std::string name, value;

    bool operator==(const SbatchOption&) const = default;
};

/// Parses the user's options, such as "--account=physics", "-M far" or "--exclusive".
std::vector<SbatchOption> parseSbatchOptions(const std::vector<std::string>& arguments);

/// The clusters to which a job may go, "far", "far,near" or "all"; empty: the local one. The user's options
/// take precedence over the environment, and SLURM_CLUSTERS over SBATCH_CLUSTERS, as in sbatch.
/// @throws Error (usage) for anything but a list of names
std::string requestedClusters(const SlurmOptions& options);

/// @throws Error (usage) for an option that sweeps set themselves or that keeps sbatch from returning at once
void rejectReservedOptions(const std::vector<std::string>& arguments);

/// Whether --clusters accepts this text: names separated by commas.
bool isClusterList(std::string_view text);

/// The environment ("NAME=value") for programs that query, cancel or requeue: without variables that set
/// options.
std::vector<std::string> environmentForQueries();

/// The same for sbatch. Variables set by the user (SBATCH_ACCOUNT, SBATCH_PARTITION, …) are kept unless these
/// options or a sweep's script set the same option.
std::vector<std::string> environmentForSbatch(const SlurmOptions& options);

}  // namespace roper
