#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace roper {

/// What a person says of how a sweep is to be trained by Slurm.
struct SlurmOptions {
    std::string partition, gres, time;  ///< as sbatch takes them; empty: what the cluster takes by itself
    std::int64_t at_once = 0;           ///< elements at the same time; 0: as many as the cluster lets
    std::int64_t pack = 1;              ///< runs that one element trains, one after the other
    std::vector<std::string> more;      ///< other options of sbatch, such as "--account=physics"
    std::string program;  ///< command line that starts the trainer on a node; empty: this program's own path

    bool operator==(const SlurmOptions&) const = default;
};

/// "0-199%16": which elements an array has, and how many of them at the same time.
std::string arrayOption(std::int64_t elements, const SlurmOptions& options);

/// The batch script of an array. Its elements keep their output in FOLDER/NAME-INDEX.log.
///
/// The scheduler sends SIGTERM to the trainer two minutes before its time is over (B: because the script's
/// process becomes the trainer; without it, only steps started by srun are told); it saves a checkpoint and
/// goes back among those that wait. `--requeue` does the same when a node fails or the job is preempted.
/// @param name        of the job
/// @param elements    how many
/// @param submission  the file that says which runs an element trains
/// @param holds       what an element requires of that file (`elementsFingerprint`); empty: nothing
/// @throws Error (usage) for an option with a line break, or one that a sweep says itself
std::string slurmScript(const std::string& name, std::int64_t elements,
                        const std::filesystem::path& submission, const SlurmOptions& options,
                        const std::string& holds = {});

}  // namespace roper
