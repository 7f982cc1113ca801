#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/runs/rows.h"
#include "core/runs/status.h"
#include "core/specification/specification.h"

namespace roper {

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

    /// The file of a kind of row.
    template <class Row>
    std::filesystem::path pathOf() const {
        return path_ / rowFile<Row>().name;
    }

    std::filesystem::path specificationPath() const { return path_ / "run.toml"; }
    std::filesystem::path statusPath() const { return path_ / "status.json"; }
    std::filesystem::path metricsPath() const { return pathOf<MetricsRow>(); }
    std::filesystem::path evaluationsPath() const { return pathOf<EvaluationRow>(); }
    std::filesystem::path methodPath() const { return pathOf<MethodRow>(); }
    std::filesystem::path sizesPath() const { return pathOf<SizeRow>(); }
    std::filesystem::path lengthsPath() const { return pathOf<LengthRow>(); }
    std::filesystem::path positionsPath() const { return pathOf<PositionRow>(); }
    std::filesystem::path textPath() const { return path_ / "text"; }  ///< what is kept of a text
    std::filesystem::path samplesPath() const { return pathOf<Sample>(); }
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

    /// All whole rows of a kind. @throws Error (usage) naming file and line of a row that cannot be read
    template <class Row>
    std::vector<Row> rows() const;

    std::vector<MetricsRow> metrics() const { return rows<MetricsRow>(); }
    std::vector<EvaluationRow> evaluations() const { return rows<EvaluationRow>(); }
    std::vector<MethodRow> methodRows() const { return rows<MethodRow>(); }
    std::vector<SizeRow> sizeRows() const { return rows<SizeRow>(); }
    std::vector<LengthRow> lengthRows() const { return rows<LengthRow>(); }
    std::vector<PositionRow> positionRows() const { return rows<PositionRow>(); }
    std::vector<Sample> samples() const { return rows<Sample>(); }

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
