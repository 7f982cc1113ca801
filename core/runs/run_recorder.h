#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/durable_file.h"
#include "core/base/file_lock.h"
#include "core/base/lease.h"
#include "core/runs/run_folder.h"
#include "core/runs/run_rewind.h"

namespace roper {

/// "2026-01-31T1420Z-index-roper-s3": current time, task, position method, model seed; for imported metrics,
/// only the known ones.
std::string defaultRunName(const Specification& specification);

/// Creates a run folder atomically, with run.toml, the status `queued` and its labels. An empty name means
/// `defaultRunName`, made unique by a number at its end. The path of a training text is made absolute.
/// @throws Error (usage) for a name that is invalid or taken, or if the text does not exist; Error (disk)
/// naming the path
RunFolder createRun(const std::filesystem::path& runs, const std::string& name,
                    const Specification& specification, const RunLabels& labels = {});

/// Renames a run that is not being trained. @throws Error (usage) for an invalid name, one that is taken, or
/// a run in training; Error (disk)
RunFolder renameRun(const RunFolder& folder, const std::string& name);

/// Saves in the run's sizes.csv how many problems of each size a checkpoint solves, replacing rows of the
/// same step and scaling. The trainer never writes that file. All rows must have the same step and scaling.
/// @throws Error (disk)
void saveSizes(const RunFolder& folder, const std::vector<SizeRow>& rows);

/// The same for lengths.csv and positions.csv, replacing rows of the same step, scaling and length.
void saveLength(const RunFolder& folder, const LengthRow& row);
void savePositions(const RunFolder& folder, const std::vector<PositionRow>& rows);

/// The only writer of a run folder. During its lifetime it holds the run's lock, which excludes other
/// processes on this machine, and its lease, which excludes those on other machines that share the folder.
/// After another process has taken over the lease, writing throws Error (other).
class RunRecorder {
  public:
    /// Waits for up to a minute if a trainer on another machine may still be running.
    /// @throws Error (usage) if another trainer works on this run, Error (disk)
    explicit RunRecorder(RunFolder folder);
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    const RunFolder& folder() const { return folder_; }

    /// Calls `rewindRun`. To be called before the first row is recorded.
    std::vector<std::string> rewindTo(const RewindPoint& target);

    void record(const MetricsRow& row);
    void record(const EvaluationRow& row);
    void record(const Sample& sample);
    void record(const std::vector<MethodRow>& rows);

    /// Checks that the lease is still ours. To be called before other code writes checkpoints or snapshots.
    /// @throws Error (other) if another trainer has taken over the folder, Error (disk)
    void requireLease();

    /// Appends a line to log.txt, prefixed with the time. Allowed without the lease, so that a process that
    /// has lost it can log why.
    void log(std::string_view line);

    /// From now on, a crash of this process is also logged in log.txt.
    void logCrashes();

    /// Writes status.json, stamped with this process and the current time.
    void setStatus(Status status, Durability durability = Durability::machine_failure);

    /// Makes all rows durable (fsync).
    void sync();

    /// Renames an unreadable checkpoint to a name that ends in ".damaged", under which it is not found.
    /// @throws Error (disk)
    void quarantine(const StepFile& checkpoint);

    /// Removes all checkpoints except the newest `keep` and the best one.
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
