#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_path.h"
#include "core/runs/rows.h"
#include "core/runs/status.h"
#include "core/specification/specification.h"

namespace roper {

/// A file that belongs to a step: a checkpoint, or a snapshot of the attention maps.
struct StepFile {
    std::int64_t step = 0;
    FilePath path;
};

/// The paths of a run's files (docs/run-folder.md), and functions that read them. Reading never changes
/// anything.
///
/// A run folder may come from anyone: no file in it, nor the folder itself, is accessed through a symbolic
/// link, and only regular files of a plausible size are read (SECURITY.md).
class RunFolder {
  public:
    explicit RunFolder(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    std::string name() const { return path_.filename().string(); }

    /// The folder itself, to be opened without following symbolic links.
    FilePath confinedPath() const;
    FilePath file(const std::filesystem::path& name) const { return confinedPath() / name; }

    /// The file of a type of row.
    template <class Row>
    FilePath pathOf() const {
        return file(rowFileName<Row>());
    }

    FilePath specificationPath() const { return file("run.toml"); }
    FilePath statusPath() const { return file("status.json"); }
    FilePath metricsPath() const { return pathOf<MetricsRow>(); }
    FilePath textPath() const { return file("text"); }  ///< the vocabulary of a text task
    FilePath logPath() const { return file("log.txt"); }
    /// stderr of a trainer that was not started from a terminal.
    FilePath trainerStderrPath() const { return file("trainer-messages.txt"); }
    FilePath lockPath() const { return file("lock"); }
    FilePath checkpointsPath() const { return file("checkpoints"); }
    FilePath checkpointPath(std::int64_t step) const;
    FilePath snapshotsPath() const { return file("snapshots"); }
    FilePath snapshotPath(std::int64_t step) const;
    /// The run's events.out.tfevents file; a new name if it has none yet.
    FilePath eventsPath() const;

    /// @throws Error
    Specification specification() const { return readSpecification(specificationPath()); }
    Status status() const { return readStatus(statusPath()); }

    /// The state to show to the user: running or paused only while the trainer exists, finished only while
    /// run.toml asks for no more steps. The recorded state if run.toml cannot be read.
    RunState effectiveState(const Status& status) const;

    /// The `training.steps` of run.toml if a finished run can continue to them: they exceed the steps that it
    /// was trained for, and there is a checkpoint. Otherwise empty.
    /// @throws Error (usage, disk) if run.toml or the checkpoints cannot be read
    std::optional<std::int64_t> stepsToContinueTo(const Status& status) const;

    /// For an interrupted run: description of its trainer's crash, if it was logged.
    std::optional<std::string> crash(const Status& status) const;

    /// Calls a function with all complete rows of a type, with memory independent of their number.
    /// @throws Error (usage) naming file and line of a malformed row, Error (disk)
    template <class Row>
    void forEachRow(const std::function<void(const Row&)>& visit) const;

    /// The same as a list. @throws Error (disk), also for a table larger than any run could have written
    template <class Row>
    std::vector<Row> rows() const;

    /// The last complete row, in time independent of their number. @throws Error
    template <class Row>
    std::optional<Row> lastRow() const;

    std::vector<MetricsRow> metrics() const { return rows<MetricsRow>(); }
    std::vector<EvaluationRow> evaluations() const { return rows<EvaluationRow>(); }
    std::vector<Sample> samples() const { return rows<Sample>(); }

    /// By ascending step; none if there is no folder. @throws Error (disk) if they cannot be listed
    std::vector<StepFile> checkpoints() const;
    std::vector<StepFile> snapshots() const;

    /// The same, but empty if they cannot be listed at present.
    std::optional<std::vector<StepFile>> checkpointsIfReadable() const;
    std::optional<std::vector<StepFile>> snapshotsIfReadable() const;

    /// The step of the best evaluation (`isBetter`); the earlier one wins a tie.
    std::optional<std::int64_t> bestStep() const;

  private:
    std::filesystem::path path_;
};

/// The checkpoint of a step, or the newest. @throws Error (checkpoint) if there is none
StepFile chooseCheckpoint(const RunFolder& folder, std::optional<std::int64_t> step);

/// Whether a name is allowed for a run: [A-Za-z0-9][A-Za-z0-9._-]{0,63}.
bool isRunName(std::string_view name);

/// Finds a run by its path, or by its name inside `runs`. @throws Error (usage) saying where it was searched
RunFolder findRun(const std::string& path_or_name, const std::filesystem::path& runs);

/// The runs inside a folder, by name. Folders without a run are skipped; a missing folder has none. Entries
/// that only look like a run, such as a link to one, are included: reading them reports what is wrong.
/// @throws Error (disk) if the folder cannot be read
std::vector<RunFolder> listRuns(const std::filesystem::path& runs);

/// Default folder of runs: $ROPER_LAB_RUNS, else ./runs.
std::filesystem::path defaultRunsFolder();

/// Whether that is ./runs, which depends on the working directory.
bool isDefaultRunsFolderRelative();

/// Labels of a run given by users, in labels.toml: trainers do not read it, and it can be changed at any
/// time.
struct RunLabels {
    std::string experiment;         ///< name of its experiment; empty: unnamed
    std::vector<std::string> tags;  ///< one word each
    std::string note;

    bool operator==(const RunLabels&) const = default;
};

FilePath labelsPath(const RunFolder& run);

/// Empty if the file is missing. @throws Error (usage) with path:line:column of what is wrong
RunLabels readLabels(const RunFolder& run);
RunLabels parseLabels(std::string_view toml, const std::string& origin);
std::string toToml(const RunLabels& labels);

/// Replaces the labels. @throws Error (usage) for a tag with a blank in it, Error (disk)
void writeLabels(const RunFolder& run, const RunLabels& labels);

}  // namespace roper
