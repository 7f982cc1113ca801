#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <vector>

#include "core/runs/queue_approval.h"
#include "core/runs/run_queue.h"
#include "core/specification/specification.h"

namespace roper {

/// The queue of a runs folder: follows and changes queue.toml, and keeps a worker (`roper-train queue`)
/// running, which continues after the window is closed.
class QueueLauncher : public QObject {
    Q_OBJECT

  public:
    /// `no_worker` starts no worker; for figures.
    enum class WorkerMode { keep_worker, no_worker };

    QueueLauncher(std::filesystem::path runs, WorkerMode worker_mode, QObject* parent);

    const RunQueue& queue() const { return queue_; }
    /// Error in queue.toml, or why no worker runs; empty without an error.
    const QString& problem() const { return problem_; }

    /// Runs that this user neither queued nor approved; they do not start before `approve`.
    const std::vector<WaitingRun>& runsAwaitingApproval() const { return unapproved_; }
    bool needsApproval(const std::string& run) const;
    /// Whether some run is training or waits; runs that wait for approval or are on hold do not count.
    bool hasWork() const;
    /// Approves all `runsAwaitingApproval`, after the user has confirmed. @throws Error (disk)
    void approve();

    /// Creates runs and appends them to the queue. @returns their names @throws Error
    std::vector<std::string> enqueue(const std::vector<NewRun>& runs);
    /// Puts an existing run at the end of the queue, and approves it. @throws Error
    void enqueueRun(const RunFolder& folder);

    /// Position of the run, from 0; −1 if it is not queued.
    int queuePosition(const std::string& run) const;

    /// Changes queue.toml immediately. @throws Error
    void change(const std::function<void(RunQueue&)>& change);
    /// Renames a run's folder and its entry in the queue, atomically with respect to workers. @throws Error
    void renameRun(const RunFolder& folder, const std::string& to);

    /// Reads queue.toml, and starts a worker if there is work and none runs. Called automatically once a
    /// second.
    void refresh();

  signals:
    void changed();

  private:
    void startWorker();

    std::filesystem::path runs_;
    WorkerMode worker_mode_;
    RunQueue queue_;
    QString problem_;
    std::vector<WaitingRun> unapproved_;
    int refreshes_since_check_ = 0;              ///< counts up to the next check for changed specifications
    std::filesystem::file_time_type read_at_{};  ///< modification time of queue.toml when it was read
    qint64 started_ms_ = 0;                      ///< when a worker was last started, ms since 1970
    QTimer timer_;
};

}  // namespace roper
