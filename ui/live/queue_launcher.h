#pragma once

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <vector>

#include "core/runs/own_queue.h"
#include "core/runs/run_queue.h"
#include "core/specification/specification.h"

namespace roper {

/// The queue of a runs folder as the window sees it: follows queue.toml, changes it, and sees to it that a
/// program works through it, which continues when the window is closed.
class QueueLauncher : public QObject {
    Q_OBJECT

  public:
    /// `watch` starts nothing: for pictures.
    enum class Duty { work, watch };

    QueueLauncher(std::filesystem::path runs, Duty duty, QObject* parent);

    const RunQueue& queue() const { return queue_; }
    /// What is wrong with the file, or why nothing works through it; empty if all is well.
    const QString& problem() const { return problem_; }

    /// Runs that this user neither queued nor approved: they do not start before `approve`.
    const std::vector<WaitingRun>& unapproved() const { return unapproved_; }
    bool waitsForWord(const std::string& run) const;
    /// Whether there is a run that may be trained.
    bool hasWork() const;
    /// The person's word that the `unapproved` may be trained. @throws Error (disk)
    void approve();

    /// Makes runs and puts them at the end. @returns their names @throws Error
    std::vector<std::string> enqueue(const std::vector<NewRun>& runs);
    /// Puts a run that is there already at the end. @throws Error
    void enqueueRun(const RunFolder& folder);

    /// The run's place, from 0; −1 if it does not wait.
    int placeOf(const std::string& run) const;

    // Each is done at once in the file. @throws Error
    void change(const std::function<void(RunQueue&)>& change);
    /// Renames the folder and the entry with no look of a worker in between.
    void renameRun(const RunFolder& folder, const std::string& to);
    void setAtOnce(int trainers);

    /// Reads the file and starts a worker if there is work and none. Called once a second by itself.
    void look();

  signals:
    void changed();

  private:
    void startWorker();

    std::filesystem::path runs_;
    Duty duty_;
    RunQueue queue_;
    QString problem_;
    std::vector<WaitingRun> unapproved_;
    int looks_since_check_ = 0;  ///< whether a run's specification has changed
    std::filesystem::file_time_type read_at_{};
    qint64 started_ms_ = 0;
    QTimer timer_;
};

}  // namespace roper
