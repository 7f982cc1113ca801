#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <filesystem>

#include "core/runs/run_folder.h"

namespace roper {

/// Starts trainers as separate processes, which continue after the window is closed.
class TrainerLauncher : public QObject {
    Q_OBJECT

  public:
    TrainerLauncher(std::filesystem::path runs, QObject* parent);

    /// Creates a queued run, so that it is visible at once, and starts a trainer for it.
    /// @throws Error saying why it cannot be created or started
    RunFolder start(const Specification& specification, const RunLabels& labels = {});

    /// Starts RoPE and RoPER at the same time, with the same batches and initial weights, sharing the cores.
    /// @returns the two runs, RoPE first
    std::vector<RunFolder> startTwins(const Specification& specification, const RunLabels& labels = {});

    /// Starts a trainer for a run that is queued or has ended before its last step. @throws Error
    void resume(const RunFolder& folder);

    /// Resumes the suspended trainer of a run. @throws Error if it has ended or belongs to another user
    static void continueSuspended(const RunFolder& folder);

    /// Path of roper-train: from $ROPER_TRAIN, next to this program, or on the PATH; empty if there is none.
    static QString trainerProgram();

  private:
    /// A started trainer that has not reported yet.
    struct Started {
        RunFolder folder;
        qint64 pid;
        qint64 previous_pid;          ///< process id in the run's status before the start
        std::uint64_t messages_size;  ///< bytes in the file of the trainer's stderr before the start
    };
    void checkStarted();

    std::filesystem::path runs_;
    std::vector<Started> started_;
    QTimer timer_;
};

/// Calls a member function once when a process has ended or could not be started.
template <class Receiver>
void onProcessEnd(QProcess& process, Receiver* receiver, void (Receiver::*ended)()) {
    QObject::connect(&process, &QProcess::finished, receiver, ended);
    QObject::connect(&process, &QProcess::errorOccurred, receiver,
                     [receiver, ended](QProcess::ProcessError error) {
                         if (error == QProcess::FailedToStart)
                             (receiver->*ended)();  // others are followed by `finished`
                     });
}

/// Kills a process and deletes it when it has ended, without waiting for that; `listener` hears no more of
/// it.
void abandon(QPointer<QProcess>& process, const QObject& listener);

/// Starts roper-train as a process that outlives this one, with stderr written to the file `messages`.
/// @returns its process id @throws Error saying why it cannot be started
qint64 startDetached(const QStringList& arguments, const FilePath& messages);

}  // namespace roper
