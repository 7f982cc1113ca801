#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/slurm_script.h"

namespace roper {

// Slurm's programs take options from variables of the environment, too. In those that ask they change the
// answer: with SQUEUE_STATES=RUNNING squeue lists nothing that waits. In sbatch a variable wins over a line
// of the script, and the command line over both.

/// An option of sbatch by its long name, without dashes.
struct SbatchOption {
    std::string name, value;

    bool operator==(const SbatchOption&) const = default;
};

/// What a person has written, "--account=physics", "-M far" or "--exclusive", option by option.
std::vector<SbatchOption> sbatchOptionsIn(const std::vector<std::string>& written);

/// The clusters that a job is for, "far" or "far,near" or "all"; empty: this machine's own. What a person
/// says of this submission comes before the environment (SLURM_CLUSTERS before SBATCH_CLUSTERS, as in
/// sbatch).
/// @throws Error (usage) for what is no list of names
std::string clustersWanted(const SlurmOptions& options);

/// @throws Error (usage) for an option that a sweep says itself or that keeps sbatch from answering at once
void requireOptionsOfASweep(const std::vector<std::string>& written);

/// Whether it can be what --clusters takes: names, with commas between them.
bool isListOfClusters(std::string_view text);

/// "NAME=value" of each variable for programs that ask, cancel or requeue: without those that are options.
std::vector<std::string> environmentForQuestions();

/// The same for sbatch: what a person has set on purpose (SBATCH_ACCOUNT, SBATCH_PARTITION, …) stays, unless
/// these options, or the script of any sweep, say the same thing.
std::vector<std::string> environmentForSbatch(const SlurmOptions& options);

}  // namespace roper
