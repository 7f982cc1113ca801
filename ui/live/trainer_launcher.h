#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <filesystem>

#include "core/runs/run_folder.h"

namespace roper {

/// Starts trainers as processes of their own, which continue when the window is closed.
class TrainerLauncher : public QObject {
    Q_OBJECT

  public:
    TrainerLauncher(std::filesystem::path runs, QObject* parent);

    /// Makes a queued run, so that it is seen at once, and starts a trainer on it.
    /// @throws Error saying why it cannot be made or started
    RunFolder start(const Specification& specification);

    /// RoPE and RoPER with the same batches and initial weights, at the same time, sharing the cores.
    /// @returns the two runs, RoPE first
    std::vector<RunFolder> startTwins(const Specification& specification);

    /// Starts a trainer on a run that is queued or has ended before its last step. @throws Error
    void resume(const RunFolder& folder);

    /// Path of roper-train: beside this program, else on the PATH.
    static QString trainerProgram();

  private:
    std::filesystem::path runs_;
};

/// Starts roper-train as a process that outlives this one; what it writes to stderr goes to the file
/// `messages`. @throws Error saying why it cannot be started
void startDetached(const QStringList& arguments, const FilePath& messages);

}  // namespace roper
