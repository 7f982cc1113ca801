#pragma once

#include <QColor>
#include <QHash>
#include <QObject>
#include <QSet>
#include <set>

#include "core/compare/expected_time.h"
#include "ui/live/queue_launcher.h"
#include "ui/live/run_store.h"
#include "ui/live/trainer_launcher.h"
#include "ui/pages/training/run_edits.h"

namespace roper {

/// A specification with each method of twins.
std::vector<Specification> twinsOf(const Specification& specification);

/// What the Training page acts on, without a widget: starts runs and queues them, and knows how each run is
/// told apart from the others in charts.
class TrainingState : public QObject {
    Q_OBJECT

  public:
    TrainingState(RunStore& store, TrainerLauncher& launcher, QueueLauncher& queue, QUndoStack& history,
                  QObject* parent);

    RunStore& store() { return store_; }
    TrainerLauncher& launcher() { return launcher_; }
    QueueLauncher& queue() { return queue_; }
    RunEdits& edits() { return edits_; }

    /// What a run of this specification takes: parameters, memory, disk and time.
    QString outlook(const Specification& specification) const;

    /// Why so many runs of it at the same time would not fit into this machine's memory; empty if they do.
    QString lackOfMemory(const Specification& specification, int runs) const;

    /// How long these would train here, one after the other.
    ExpectedTime expectedTime(const std::vector<Specification>& specifications) const;

    /// Starts a run, or RoPE and RoPER as twins, and says `started` of the last one.
    void start(const Specification& specification, bool as_twins);

    /// Puts runs into the queue.
    /// @param there_already  how many more were wanted, but are trained or wait already
    void enqueue(const std::vector<Specification>& specifications, int there_already);

    /// The twins of a specification for some seeds, from its data seed upwards; without what is trained or
    /// waits already.
    std::vector<Specification> missingTwins(const Specification& specification, int seeds) const;

    /// By method, unless another colour was chosen for the run.
    /// @param number  of its group among those of the same method: others get another lightness
    QColor colorOf(const RunWatcher& run, int number, const QPalette& palette);
    void setColor(const QString& run, const QColor& color);
    /// A run has another name now.
    void rename(const QString& from, const QString& to);

    /// A run is no longer there.
    void forget(const QString& run) { chosen_colors_.remove(run); }

  signals:
    /// A line for the person who did something.
    void said(const QString& text);
    void started(const QString& run);

  private:
    void removeWhatNeverBegan();
    std::set<std::string> experimentNames() const;
    std::vector<NewRun> named(const std::vector<Specification>& specifications, bool join) const;
    QString lowDisk(const std::vector<Specification>& specifications) const;

    RunStore& store_;
    TrainerLauncher& launcher_;
    QueueLauncher& queue_;
    RunEdits edits_;
    QSet<QString> started_;                 ///< here, and not yet seen to train
    QHash<QString, QColor> chosen_colors_;  ///< by a person; not valid where none was
};

}  // namespace roper
