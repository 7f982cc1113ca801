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

/// The specification, once with each of the twin methods.
std::vector<Specification> twinsOf(const Specification& specification);

/// The logic of the Training page without widgets: starts and queues runs, and assigns their colors in
/// charts.
class TrainingState : public QObject {
    Q_OBJECT

  public:
    TrainingState(RunStore& store, TrainerLauncher& launcher, QueueLauncher& queue, QUndoStack& history,
                  QObject* parent);

    RunStore& store() { return store_; }
    TrainerLauncher& launcher() { return launcher_; }
    QueueLauncher& queue() { return queue_; }
    RunEdits& edits() { return edits_; }

    /// Costs of a run of this specification: parameters, memory, disk and time.
    QString expectedCosts(const Specification& specification) const;

    /// Why this number of simultaneous runs does not fit into the machine's memory; empty if it does.
    QString memoryShortage(const Specification& specification, int runs) const;

    /// Expected time of these runs on this machine, one after the other.
    ExpectedTime expectedTime(const std::vector<Specification>& specifications) const;

    /// Starts a run, or RoPE and RoPER as twins, and emits `started` for the last one.
    void start(const Specification& specification, bool as_twins);

    /// Queues runs.
    /// @param already_present  number of further requested runs that are already trained or queued
    void enqueue(const std::vector<Specification>& specifications, int already_present);

    /// The twins of a specification for a number of seeds, from its data seed upward, without those already
    /// trained or queued.
    std::vector<Specification> missingTwins(const Specification& specification, int seeds) const;

    /// Color by method, unless the user has chosen one for the run.
    /// @param number  index of the run's group among those with the same method, which differ in lightness
    QColor colorOf(const RunWatcher& run, int number, const QPalette& palette);
    void setColor(const QString& run, const QColor& color);
    /// Call it when a run was renamed.
    void rename(const QString& from, const QString& to);

    /// Call it when a run was removed.
    void forget(const QString& run) { chosen_colors_.remove(run); }

  signals:
    /// A message for the user.
    void reported(const QString& text);
    void started(const QString& run);

  private:
    void removeNeverStarted();
    std::set<std::string> experimentNames() const;
    std::vector<NewRun> named(const std::vector<Specification>& specifications, bool join) const;
    QString diskShortage(const std::vector<Specification>& specifications) const;

    RunStore& store_;
    TrainerLauncher& launcher_;
    QueueLauncher& queue_;
    RunEdits edits_;
    QSet<QString> started_;                 ///< started here, but not yet seen in training
    QHash<QString, QColor> chosen_colors_;  ///< by the user, for each run; invalid: none
};

}  // namespace roper
