#pragma once

#include <QObject>
#include <QSet>
#include <QString>
#include <QTimer>

#include "ui/live/queue_launcher.h"
#include "ui/live/run_store.h"

namespace roper {

/// Reports the end of training: one message for started runs that end together, and one for the queue once it
/// is empty. A failed run of the queue is reported at once. Runs stopped by the user are not reported.
class TrainingEndReporter : public QObject {
    Q_OBJECT

  public:
    TrainingEndReporter(RunStore& store, QueueLauncher& queue, QObject* parent);

  signals:
    /// @param title  "Training has finished"
    /// @param text   the runs and their results, one line each
    void ended(const QString& title, const QString& text);

  private:
    void watchRun(RunWatcher* run);
    void recordEnd(const RunWatcher& run);
    void report();

    RunStore& store_;
    QueueLauncher& queue_;
    QSet<QString> active_;           ///< names of runs in training
    QSet<QString> queued_runs_;      ///< names of runs that were in the queue
    QStringList finished_, failed_;  ///< not yet reported
    QTimer report_timer_;
};

/// Shows a desktop notification over D-Bus, following freedesktop.org's specification. Does not block, and
/// does nothing if there is no bus or no notification service.
void notifyDesktop(const QString& title, const QString& text);

}  // namespace roper
