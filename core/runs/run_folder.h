#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/runs/csv.h"
#include "core/specification/specification.h"
#include "core/runs/status.h"

namespace roper {

/// One problem of one evaluation, a line of samples.jsonl. Of a text: a beginning, how it goes on, and what
/// the model wrote.
struct Sample {
    std::int64_t step = 0;
    std::string prompt;
    std::string expected;
    std::string completion;
    std::optional<bool> correct = {};  ///< nothing where there is no right or wrong
};

std::string formatSample(const Sample& sample);
/// @throws Error (usage)
Sample parseSample(std::string_view line);

/// A file that belongs to a step: a checkpoint or a snapshot.
struct StepFile {
    std::int64_t step = 0;
    std::filesystem::path path;
};

/// The places of a run's files (docs/run-folder.md), and their reader. Reading never changes anything.
class RunFolder {
  public:
    explicit RunFolder(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    std::string name() const { return path_.filename().string(); }

    std::filesystem::path specificationPath() const { return path_ / "run.toml"; }
    std::filesystem::path statusPath() const { return path_ / "status.json"; }
    std::filesystem::path metricsPath() const { return path_ / "metrics.csv"; }
    std::filesystem::path evaluationsPath() const { return path_ / "evaluations.csv"; }
    std::filesystem::path methodPath() const { return path_ / "method.csv"; }
    std::filesystem::path sizesPath() const { return path_ / "sizes.csv"; }
    std::filesystem::path lengthsPath() const { return path_ / "lengths.csv"; }
    std::filesystem::path positionsPath() const { return path_ / "positions.csv"; }
    std::filesystem::path textPath() const { return path_ / "text"; }  ///< what is kept of a text
    std::filesystem::path samplesPath() const { return path_ / "samples.jsonl"; }
    std::filesystem::path logPath() const { return path_ / "log.txt"; }
    std::filesystem::path lockPath() const { return path_ / "lock"; }
    std::filesystem::path checkpointsPath() const { return path_ / "checkpoints"; }
    std::filesystem::path checkpointPath(std::int64_t step) const;
    std::filesystem::path snapshotsPath() const { return path_ / "snapshots"; }
    std::filesystem::path snapshotPath(std::int64_t step) const;
    /// The run's events.out.tfevents file; a new name if it has none yet.
    std::filesystem::path eventsPath() const;

    /// @throws Error
    Specification specification() const { return readSpecification(specificationPath()); }
    Status status() const { return readStatus(statusPath()); }

    /// All whole rows. @throws Error (usage) naming file and line of a row that cannot be read
    std::vector<MetricsRow> metrics() const;
    std::vector<EvaluationRow> evaluations() const;
    std::vector<MethodRow> methodRows() const;
    std::vector<SizeRow> sizeRows() const;
    std::vector<LengthRow> lengthRows() const;
    std::vector<PositionRow> positionRows() const;
    std::vector<Sample> samples() const;

    /// By rising step.
    std::vector<StepFile> checkpoints() const;
    std::vector<StepFile> snapshots() const;

    /// The step of the best evaluation (`isBetter`); the earlier one wins a tie.
    std::optional<std::int64_t> bestStep() const;

  private:
    std::filesystem::path path_;
};

/// Whether a name is allowed for a run: [A-Za-z0-9][A-Za-z0-9._-]{0,63}.
bool isRunName(std::string_view name);

/// A run named by its path, or by its name inside `runs`. @throws Error (usage) saying where was looked
RunFolder findRun(const std::string& path_or_name, const std::filesystem::path& runs);

/// The runs inside a folder, by name. Folders that hold no run are passed over; a missing folder has none.
std::vector<RunFolder> listRuns(const std::filesystem::path& runs);

/// Where runs go when nothing is said: $ROPER_LAB_RUNS, else ./runs.
std::filesystem::path defaultRunsFolder();

}  // namespace roper
