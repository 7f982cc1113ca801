#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/durable_file.h"
#include "core/base/file_lock.h"
#include "core/base/lease.h"
#include "core/runs/run_labels.h"
#include "core/runs/run_rewind.h"

namespace roper {

/// "2026-01-31T1420Z-index-roper-s3": time of asking, task, position method, model seed; of imported metrics
/// what is known of these.
std::string defaultRunName(const Specification& specification);

/// Makes a run folder that holds run.toml, the status `queued` and its labels. It appears whole or not at
/// all. An empty name means `defaultRunName`, made unique by a number at its end. The path of a text is made
/// absolute.
/// @throws Error (usage) for a bad name or one that is taken, or if there is no such text, Error (disk)
/// naming the path
RunFolder createRun(const std::filesystem::path& runs, const std::string& name,
                    const Specification& specification, const RunLabels& labels = {});

/// Gives a run that is not being trained another name. @throws Error (usage) for a bad name, one that is
/// taken, or a run that trains; Error (disk)
RunFolder renameRun(const RunFolder& folder, const std::string& name);

/// Writes what a checkpoint of a run solves by size into its sizes.csv, in place of what stands there of the
/// same step and scaling. The trainer never writes that file. All rows have one step and one scaling.
/// @throws Error (disk)
void saveSizes(const RunFolder& folder, const std::vector<SizeRow>& rows);

/// The same for its lengths.csv and positions.csv: in place of what stands there of the same step, scaling
/// and length.
void saveLength(const RunFolder& folder, const LengthRow& row);
void savePositions(const RunFolder& folder, const std::vector<PositionRow>& rows);

/// The only writer of a run folder. Holds the run's lock as long as it lives, and its lease, which also holds
/// over machines that share the folder: what writes throws Error (other) once another has taken it over.
class RunRecorder {
  public:
    /// Waits for up to a minute where it is not known whether a trainer on another machine lives.
    /// @throws Error (usage) if another trainer works on this run, Error (disk)
    explicit RunRecorder(RunFolder folder);
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    const RunFolder& folder() const { return folder_; }

    /// `rewindRun`. Call before the first record.
    std::vector<std::string> rewindTo(const TrainedUntil& until);

    void record(const MetricsRow& row);
    void record(const EvaluationRow& row);
    void record(const Sample& sample);
    void record(const std::vector<MethodRow>& rows);

    /// Before others write into the folder on behalf of its holder: checkpoints, snapshots.
    /// @throws Error (other) if another trainer has taken it over, Error (disk)
    void requireHeld();

    /// A line of log.txt, with the time in front. Allowed without the lease: a process that has lost it may
    /// still log why.
    void log(std::string_view line);

    /// From here on log.txt also says it if this process crashes.
    void logCrashes();

    /// Writes status.json, stamped with this process and the present time.
    void setStatus(Status status, Durability durability = Durability::machine_failure);

    /// Makes all rows survive the death of the machine.
    void sync();

    /// Gives a checkpoint that cannot be read a name that ends in ".damaged", under which nothing looks for
    /// it.
    /// @throws Error (disk)
    void putAside(const StepFile& checkpoint);

    /// Removes the checkpoints but the newest `keep` and the best one.
    void pruneCheckpoints(std::int64_t keep);

  private:
    void openRows();

    RunFolder folder_;
    FileLock lock_;
    std::unique_ptr<Lease> lease_;
    std::unique_ptr<AppendFile> metrics_, evaluations_, samples_, method_, events_, log_;
    bool logs_crashes_ = false;
};

}  // namespace roper
