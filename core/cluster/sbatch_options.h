#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/slurm_script.h"

namespace roper {

// Slurm's programs also take options from environment variables, which can distort the output of queries:
// with SQUEUE_STATES=RUNNING, squeue lists no pending elements. For sbatch, variables take precedence over
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
/// options or a sweep's script set the same thing.
std::vector<std::string> environmentForSbatch(const SlurmOptions& options);

}  // namespace roper
