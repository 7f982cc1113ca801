#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <filesystem>

#include "core/runs/run_labels.h"

namespace roper {

/// Starts trainers as processes of their own, which continue when the window is closed.
class TrainerLauncher : public QObject {
    Q_OBJECT

  public:
    TrainerLauncher(std::filesystem::path runs, QObject* parent);

    /// Makes a queued run, so that it is seen at once, and starts a trainer on it.
    /// @throws Error saying why it cannot be made or started
    RunFolder start(const Specification& specification, const RunLabels& labels = {});

    /// RoPE and RoPER with the same batches and initial weights, at the same time, sharing the cores.
    /// @returns the two runs, RoPE first
    std::vector<RunFolder> startTwins(const Specification& specification, const RunLabels& labels = {});

    /// Starts a trainer on a run that is queued or has ended before its last step. @throws Error
    void resume(const RunFolder& folder);

    /// Lets the trainer of a run go on that was suspended. @throws Error if it no longer is, or is another
    /// user's
    static void wake(const RunFolder& folder);

    /// Path of roper-train: what $ROPER_TRAIN names, else beside this program, else on the PATH.
    static QString trainerProgram();

  private:
    /// A trainer that was started and has not yet been seen to begin.
    struct Started {
        RunFolder folder;
        qint64 pid;
        qint64 former_pid;   ///< the process in the run's status when it was started
        std::uint64_t said;  ///< size of its messages when it was started
    };
    void lookAtStarted();

    std::filesystem::path runs_;
    std::vector<Started> started_;
    QTimer timer_;
};

/// Starts roper-train as a process that outlives this one; what it writes to stderr goes to the file
/// `messages`. → its process id. @throws Error saying why it cannot be started
qint64 startDetached(const QStringList& arguments, const FilePath& messages);

}  // namespace roper
