#pragma once

#include <QObject>
#include <QSet>
#include <QTimer>

#include "ui/live/queue_launcher.h"
#include "ui/live/run_store.h"

namespace roper {

/// Tells when training has come to an end: of runs that were started, once for those that end together; of a
/// queue, once it is empty. A run of a queue that fails is told at once. What a person stopped is not told.
class EndedRuns : public QObject {
    Q_OBJECT

  public:
    EndedRuns(RunStore& store, QueueLauncher& queue, QObject* parent);

  signals:
    /// @param title  "Training has finished"
    /// @param text   which runs, and what they reached, a line each
    void ended(const QString& title, const QString& text);

  private:
    void follow(RunWatcher* run);
    void note(const RunWatcher& run);
    void tell();
    bool queueWorks() const;

    RunStore& store_;
    QueueLauncher& queue_;
    QSet<QString> active_;           ///< names of runs that train
    QSet<QString> of_queue_;         ///< names of runs that were seen in the queue
    QStringList finished_, failed_;  ///< not yet told
    QTimer together_;
};

}  // namespace roper
