#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/slurm_script.h"
#include "core/compare/outcome.h"

namespace roper {

// Commands about many runs: queue, sweep, compare, board. Each prints its data on stdout and returns the
// program's exit code. All throw Error.

/// Puts runs of a specification at the end of the queue.
struct EnqueueOptions {
    std::string what;  ///< a preset's name or a specification's path
    std::vector<std::string> settings;
    std::filesystem::path runs;
    std::string seeds = "0";  ///< "0-4", "3", "1,5,9"
    bool twins = false;       ///< RoPE and RoPER for each seed
};
int enqueueCommand(const EnqueueOptions& options);

/// Works through the queue; `quietly` says nothing, not even that another program does so already.
int queueCommand(const std::filesystem::path& runs, bool quietly);

struct SweepOptions {
    std::string sweep;  ///< a file, or the name of a bundled sweep
    std::filesystem::path runs;
    int at_once = 1;
    std::int64_t only = -1;  ///< train this run alone, counted from 0
    bool use_slurm = false;  ///< hand what is missing to Slurm instead
    SlurmOptions slurm = {};
    bool dry_run = false;      ///< print the batch scripts, and change nothing
    bool show_status = false;  ///< say of each run where it is
    bool cancel = false;       ///< take back what the scheduler has
    bool json = false;         ///< of the status: a JSON object a run
};
int sweepCommand(const SweepOptions& options);

/// Trains the runs of one element of an array that `sweep --slurm` has submitted.
/// @param element  from 0; if not given SLURM_ARRAY_TASK_ID says it
int workCommand(const std::filesystem::path& submission, std::optional<std::int64_t> element,
                const std::string& holds);

struct CompareOptions {
    std::filesystem::path runs;
    std::string filter;
    std::string measure;  ///< empty: what suits the task
    double share = 0.9;
    std::string a, b;  ///< parts of the labels of two groups; empty: RoPE and RoPER
    bool all = false;  ///< every measure in one table, instead of one measure
    std::string csv;   ///< also write the pairs there; of all measures the table
    bool json = false;
};
int compareCommand(const CompareOptions& options);

struct MethodsOptions {
    std::filesystem::path runs;
    std::string filter;
    std::string reference = "RoPE";  ///< label of the group that the others are compared with
    std::string measure;             ///< empty: what each preset names
    double share = 0.9;
    std::string csv, markdown;  ///< also write the table there
};
/// Prints every method beside one of them, preset by preset.
int methodsCommand(const MethodsOptions& options);

struct PrecisionOptions {
    std::filesystem::path runs;
    std::string filter, measure;
    double bound = 0;
    std::string csv;  ///< also write the table there
};
/// Prints whether float32 and bfloat16 are equivalent, for each group of runs that has both.
int precisionCommand(const PrecisionOptions& options);

/// Prints which settings differ between runs, and what each reached.
/// @param names  of runs, or their paths
int diffCommand(const std::vector<std::string>& names, const std::filesystem::path& runs, bool json);

/// @param measure  first measure how long a step takes where no run says so
/// @param enqueue  put what is missing into the queue
int boardCommand(const std::filesystem::path& runs, bool measure, bool enqueue, bool json);

struct ImportOptions {
    std::filesystem::path file, runs;
    std::string name;
    std::vector<std::string> columns;   ///< field=column; what is not named is found by common names
    std::vector<std::string> settings;  ///< of the specification that the run is taken for
};
int importCommand(const ImportOptions& options);

/// "0-4", "3", "1,5,9". @throws Error (usage)
std::vector<std::int64_t> parseSeeds(const std::string& text);

}  // namespace roper
