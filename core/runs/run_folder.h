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

/// A file that belongs to a step: a checkpoint or a snapshot.
struct StepFile {
    std::int64_t step = 0;
    FilePath path;
};

/// The places of a run's files (docs/run-folder.md), and their reader. Reading never changes anything.
///
/// A run folder may come from anybody: no file of it, nor the folder itself, is reached through a symbolic
/// link, and nothing but regular files of a size that such a file can have is read (SECURITY.md).
class RunFolder {
  public:
    explicit RunFolder(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    std::string name() const { return path_.filename().string(); }

    /// The folder itself, of which no link leads elsewhere.
    FilePath confinedPath() const;
    FilePath file(const std::filesystem::path& name) const { return confinedPath() / name; }

    /// The file of a kind of row.
    template <class Row>
    FilePath pathOf() const {
        return file(rowFile<Row>().name);
    }

    FilePath specificationPath() const { return file("run.toml"); }
    FilePath statusPath() const { return file("status.json"); }
    FilePath metricsPath() const { return pathOf<MetricsRow>(); }
    FilePath textPath() const { return file("text"); }  ///< what is kept of a text
    FilePath logPath() const { return file("log.txt"); }
    /// What a trainer wrote to stderr that was not started from a terminal.
    FilePath messagesPath() const { return file("trainer-messages.txt"); }
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

    /// The state a person should be told: running or paused only while the trainer is really there, finished
    /// only while run.toml asks for no more steps. The state as written where run.toml cannot be read.
    RunState trueState(const Status& status) const;

    /// What decides whether a finished run goes on: the `training.steps` of its run.toml, where they are more
    /// than it was trained for and there is a checkpoint to go on from; otherwise nothing.
    /// @throws Error (usage, disk) if run.toml or the checkpoints cannot be read
    std::optional<std::int64_t> raisedSteps(const Status& status) const;

    /// Of an interrupted run: what its trainer's crash was, in words, if it could still be written down.
    std::optional<std::string> crash(const Status& status) const;

    /// Hands out all whole rows of a kind, one after the other, in memory that does not depend on how many
    /// there are. @throws Error (usage) naming file and line of a row that cannot be read, Error (disk)
    template <class Row>
    void forEachRow(const std::function<void(const Row&)>& take) const;

    /// The same as a list. @throws Error (disk), also for a table that no run could have written
    template <class Row>
    std::vector<Row> rows() const;

    /// The last whole row; the time that it takes does not depend on how many there are. @throws Error
    template <class Row>
    std::optional<Row> lastRow() const;

    std::vector<MetricsRow> metrics() const { return rows<MetricsRow>(); }
    std::vector<EvaluationRow> evaluations() const { return rows<EvaluationRow>(); }
    std::vector<Sample> samples() const { return rows<Sample>(); }

    /// By rising step. @throws Error (disk) if they cannot be listed; if there is no folder there are none
    std::vector<StepFile> checkpoints() const;
    std::vector<StepFile> snapshots() const;

    /// The same; nothing if they cannot be listed now.
    std::optional<std::vector<StepFile>> checkpointsToShow() const;
    std::optional<std::vector<StepFile>> snapshotsToShow() const;

    /// The step of the best evaluation (`isBetter`); the earlier one wins a tie.
    std::optional<std::int64_t> bestStep() const;

  private:
    std::filesystem::path path_;
};

/// The checkpoint of a step, or the newest. @throws Error (checkpoint) if there is none
StepFile chooseCheckpoint(const RunFolder& folder, std::optional<std::int64_t> step);

/// Whether a name is allowed for a run: [A-Za-z0-9][A-Za-z0-9._-]{0,63}.
bool isRunName(std::string_view name);

/// A run named by its path, or by its name inside `runs`. @throws Error (usage) saying where was looked
RunFolder findRun(const std::string& path_or_name, const std::filesystem::path& runs);

/// The runs inside a folder, by name. Folders that hold no run are passed over; a missing folder has none.
/// @throws Error (disk) if the folder cannot be read. What is here in place of a run, such as a link to one,
/// is here too: reading it says what is wrong.
std::vector<RunFolder> listRuns(const std::filesystem::path& runs);

/// Where runs go when nothing is said: $ROPER_LAB_RUNS, else ./runs.
std::filesystem::path defaultRunsFolder();

/// Whether that is ./runs, so that it depends on where one stands.
bool defaultRunsFolderIsHere();

}  // namespace roper
