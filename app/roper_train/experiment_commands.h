#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/slurm_script.h"
#include "core/compare/outcome.h"

namespace roper {

// Commands for many runs: queue, sweep, compare, board, bench. Each prints its data on stdout and returns the
// program's exit code. All throw Error.

/// Options for appending runs of a specification to the queue.
struct EnqueueOptions {
    std::string what;  ///< a preset's name or a specification's path
    std::vector<std::string> settings;
    std::filesystem::path runs;
    std::string seeds = "0";  ///< "0-4", "3", "1,5,9"
    bool twins = false;       ///< RoPE and RoPER for each seed
};
int enqueueCommand(const EnqueueOptions& options);

/// Processes the queue; `quietly` prints nothing, not even that another program is already doing so.
int queueCommand(const std::filesystem::path& runs, bool quietly);

struct SweepOptions {
    std::string sweep;  ///< a file, or the name of a bundled sweep
    std::filesystem::path runs;
    int max_trainers = 1;
    std::int64_t only = -1;  ///< train only this run, counted from 0
    bool use_slurm = false;  ///< submit missing runs to Slurm instead
    SlurmOptions slurm = {};
    bool dry_run = false;      ///< print the batch scripts without changing anything
    bool show_status = false;  ///< print the state of each run
    bool cancel = false;       ///< cancel the jobs of the scheduler
    bool json = false;         ///< for the status: one JSON object per run
};
int sweepCommand(const SweepOptions& options);

/// Trains the runs of one array element submitted by `sweep --slurm`.
/// @param array_task  from 0; default: SLURM_ARRAY_TASK_ID
int workCommand(const std::filesystem::path& submission, std::optional<std::int64_t> array_task,
                const std::string& fingerprint);

struct CompareOptions {
    std::filesystem::path runs;
    std::string filter;
    std::string measure;  ///< empty: depends on the task
    double solved_fraction = 0.9;
    std::string a, b;  ///< parts of the labels of two groups; empty: RoPE and RoPER
    bool all = false;  ///< all measures in one table, instead of one measure
    std::string csv;   ///< also write the pairs to this file, or with `all` the table
    bool json = false;
};
int compareCommand(const CompareOptions& options);

struct MethodsOptions {
    std::filesystem::path runs;
    std::string filter;
    std::string reference = "RoPE";  ///< label of the group with which the others are compared
    std::string measure;             ///< empty: named by each preset
    double solved_fraction = 0.9;
    std::string csv, markdown;  ///< also write the table to these files
};
/// Prints all methods compared with one of them, preset by preset.
int methodsCommand(const MethodsOptions& options);

struct PrecisionOptions {
    std::filesystem::path runs;
    std::string filter, measure;
    double bound = 0;
    std::string csv;  ///< also write the table to this file
};
/// Prints whether float32 and bfloat16 are equivalent, for each group of runs that has both.
int precisionCommand(const PrecisionOptions& options);

/// Prints which settings differ between runs, and their outcomes.
/// @param names  of runs, or their paths
int diffCommand(const std::vector<std::string>& names, const std::filesystem::path& runs, bool json);

/// @param measure  first measure step times that are not known from runs
/// @param enqueue  add missing runs to the queue
int boardCommand(const std::filesystem::path& runs, bool measure, bool enqueue, bool json);

struct ImportOptions {
    std::filesystem::path file, runs;
    std::string name;
    std::vector<std::string> columns;   ///< field=column; others are recognised by common names
    std::vector<std::string> settings;  ///< of the specification assumed for the run
};
int importCommand(const ImportOptions& options);

struct BenchOptions {
    std::string work = "step";  ///< step, attention, generate, baselines; `step` is the default
    std::string what;           ///< a preset's name or a specification's path; empty: A and B
    std::vector<std::string> settings;
    std::filesystem::path runs;
    int times = 0;            ///< number of repetitions; 0: automatic
    std::string target;       ///< the kernels' instruction set; empty: the best
    bool save_speed = false;  ///< save the step time for the board
    bool json = false;
};

/// Measures the speed of training, attention or generation on this machine (docs/performance.md) with both
/// methods; steps of both are interleaved.
int benchCommand(const BenchOptions& options);

}  // namespace roper
