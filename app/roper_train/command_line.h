#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>

#include "app/roper_train/commands.h"
#include "app/roper_train/experiment_commands.h"
#include "core/runs/run_folder.h"

namespace roper {

/// The options --json and --quiet.
struct VerbosityFlags {
    bool json = false;
    bool quiet = false;

    void addTo(CLI::App* command) {
        command->add_flag("--json", json, "One JSON object per line on stdout");
        command->add_flag("-q,--quiet", quiet, "Print nothing unless the command fails");
    }
    Verbosity verbosity() const {
        if (json) return Verbosity::json;
        if (quiet) return Verbosity::quiet;
        return ::isatty(STDERR_FILENO) ? Verbosity::bar : Verbosity::lines;
    }
};

/// Parses the arguments, runs their command and reports errors on stderr.
/// @returns the exit code, one of core/base/error.h
int runCommandLine(int argc, char** argv);

/// Ends the process without destroying LibTorch's tables of operators, which takes a fifth of a short
/// command's time. A build with sanitizers exits normally, so that they find leaks.
[[noreturn]] void exitProgram(int code);

/// The commands of roper-train and their options, which fill in a struct for the command's function.
class CommandLine {
  public:
    CommandLine();

    /// @returns the exit code
    int parseAndRun(int argc, char** argv);

  private:
    CLI::App* command(const std::string& name, const std::string& help);
    /// Sets the action of a command, called after all options are parsed.
    void setAction(CLI::App* command, std::function<int()> act) {
        command->callback([this, act = std::move(act)] { action_ = act; });
    }
    /// An action that stores the runs folder in `options` and calls `act` with them.
    template <class Options>
    std::function<int()> withRuns(Options& options, int (*act)(const Options&)) {
        return [this, &options, act] {
            options.runs = runs_;
            return act(options);
        };
    }
    void addRunsFolder(CLI::App* command);
    void addCheckpointOptions(CLI::App* command);  ///< options of commands that read a checkpoint of a run
    void addFilter(CLI::App* command, std::string& filter);
    void addProcesses(CLI::App* command);
    void addRun(), addResume(), addFollow(), addList(), addPresets(), addDescribe(), addSample(), addEval(),
        addExport(), addServe(), addLook(), addRotation(), addModels(), addFamilies(), addTokens(),
        addEnqueue(), addQueue(), addSweep(), addWork(), addCompare(), addMethods(), addPrecision(),
        addDiff(), addBoard(), addBench(), addImport(), addTrust(), addCompletion(), addMan();
    void reportRunsFolder() const;

    CLI::App app_{"Trains transformers with rotary position embeddings, and answers questions about them.",
                  "roper-train"};
    std::function<int()> action_;
    std::string runs_ = defaultRunsFolder().string();
    RunOptions run_;
    CheckpointOptions read_;  ///< the run and checkpoint to read
    SessionOptions session_;
    VerbosityFlags flags_;
    bool names_ = false, keys_ = false;  ///< print only lists of names, for completion
    std::string key_;                    ///< key whose values are listed
    std::string shell_;
    bool markdown_ = false, background_ = false;
    bool with_parent_ = false;  ///< end when stdin is closed
    std::string task_, what_, text_, out_, precision_ = "fp32";
    std::int64_t count_ = 10;
    EvalOptions eval_;
    LookOptions look_;
    RotationOptions rotation_;
    FamiliesOptions families_;
    TokensOptions tokens_;
    EnqueueOptions enqueue_;
    FollowOptions follow_;
    SweepOptions sweep_;
    std::filesystem::path submission_;  ///< RUNS/slurm/NAME.json
    std::string expected_fingerprint_;  ///< of the sweep that was submitted
    std::optional<std::int64_t> array_task_;
    CompareOptions compare_;
    MethodsOptions methods_;
    PrecisionOptions compared_precisions_;
    std::vector<std::string> compared_;  ///< runs whose settings `diff` compares
    BenchOptions bench_;
    ImportOptions import_;
    bool measure_ = false, enqueue_missing_ = false;  ///< board: time a step; queue the missing runs
    std::optional<std::int64_t> seed_;
};

}  // namespace roper
