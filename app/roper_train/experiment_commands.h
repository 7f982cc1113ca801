#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/slurm_script.h"
#include "core/compare/outcome.h"

namespace roper {

// Commands on several runs (queue, sweep, compare and others), and bench, which measures the machine. Each
// prints its data on stdout and returns the program's exit code. All throw Error.

/// Options for appending runs of a specification to the queue.
struct EnqueueOptions {
    std::string what;                   ///< a preset's name or a specification's path
    std::vector<std::string> settings;  ///< overridden fields, "key=value"
    std::filesystem::path runs;
    std::string seeds = "0";  ///< "0-4", "3", "1,5,9"
    bool twins = false;       ///< RoPE and RoPER for each seed
};
int enqueueCommand(const EnqueueOptions& options);

/// Trains the runs in the queue; returns at once if another program is already doing so.
/// @param quietly  print nothing
int queueCommand(const std::filesystem::path& runs, bool quietly);

struct SweepOptions {
    std::string sweep;  ///< a file, or the name of a bundled sweep
    std::filesystem::path runs;
    int max_trainers = 1;    ///< at the same time
    std::int64_t only = -1;  ///< train only this run, counted from 0; -1: all
    bool use_slurm = false;  ///< submit missing runs to Slurm instead
    SlurmOptions slurm = {};
    bool dry_run = false;      ///< print the batch scripts without changing anything
    bool show_status = false;  ///< print the state of each run
    bool cancel = false;       ///< cancel the sweep's Slurm jobs
    bool json = false;         ///< for the status: one JSON object per run
};
int sweepCommand(const SweepOptions& options);

/// Trains the runs of one array task submitted by `sweep --slurm`.
/// @param submission   its JSON file
/// @param array_task   from 0; nullopt: SLURM_ARRAY_TASK_ID
/// @param fingerprint  expected SHA-256 of the submission's runs; empty: not checked
int workCommand(const std::filesystem::path& submission, std::optional<std::int64_t> array_task,
                const std::string& fingerprint);

struct CompareOptions {
    std::filesystem::path runs;
    std::string filter;            ///< as for RunFilter; empty: all runs
    std::string measure;           ///< empty: depends on the task
    double solved_fraction = 0.9;  ///< for steps_until
    std::string a, b;              ///< names of two groups of runs that differ in seed only, or parts
                                   ///< of the names; empty: RoPE and RoPER
    bool all = false;              ///< all measures in one table, instead of one measure
    std::string csv;               ///< also write the pairs of runs with equal seeds to this file, or
                                   ///< with `all` the table
    bool json = false;
};
int compareCommand(const CompareOptions& options);

struct MethodsOptions {
    std::filesystem::path runs;
    std::string filter;              ///< as for RunFilter; empty: all runs
    std::string reference = "RoPE";  ///< name of the group of runs with which the others are compared
    std::string measure;             ///< empty: the primary measure of each preset
    double solved_fraction = 0.9;    ///< for steps_until
    std::string csv, markdown;       ///< also write the table to these files
};
/// Prints a table of all position methods compared with one of them, preset by preset.
int methodsCommand(const MethodsOptions& options);

struct PrecisionOptions {
    std::filesystem::path runs;
    std::string filter, measure;
    double bound = 0;  ///< largest difference that does not matter, in the measure's unit
    std::string csv;   ///< also write the table to this file
};
/// Prints whether float32 and bfloat16 are equivalent, for each group of runs that has both.
int precisionCommand(const PrecisionOptions& options);

/// Prints which settings differ between runs, and their outcomes.
/// @param names  of runs, or their paths
int diffCommand(const std::vector<std::string>& names, const std::filesystem::path& runs, bool json);

/// Prints the board: the results of the RoPER note (docs/experiments.md) beside those of these runs.
/// @param measure  first measure the time per step where no run has recorded it
/// @param enqueue  add missing runs to the queue
int boardCommand(const std::filesystem::path& runs, bool measure, bool enqueue, bool json);

struct ImportOptions {
    std::filesystem::path file;  ///< metrics recorded by another program
    std::filesystem::path runs;
    std::string name;                   ///< of the run's folder; empty: chosen automatically
    std::vector<std::string> columns;   ///< field=column; columns not listed are found by common names
    std::vector<std::string> settings;  ///< of the specification assumed for the run
};
int importCommand(const ImportOptions& options);

struct BenchOptions {
    std::string work = "step";  ///< step, attention, generate, baselines (other programs' steps) or first (a
                                ///< new process's first step)
    std::string what;  ///< a preset's name or a specification's path; empty: A and B of docs/performance.md
    std::vector<std::string> settings;  ///< overridden fields, "key=value"
    std::filesystem::path runs;
    int times = 0;            ///< number of repetitions; 0: automatic
    std::string target;       ///< the kernels' instruction set; empty: the best
    bool save_speed = false;  ///< save the time per step for the board
    bool json = false;
};

/// Measures the speed of training, attention or generation on this machine (docs/performance.md) with RoPE
/// and RoPER, whose steps are interleaved.
int benchCommand(const BenchOptions& options);

}  // namespace roper
