#pragma once

#include <QObject>
#include <QUndoStack>
#include <optional>

#include "core/runs/run_folder.h"
#include "ui/live/queue_launcher.h"
#include "ui/live/run_store.h"

namespace roper {

/// Original path of a run's folder, and its path in the desktop's trash.
struct TrashedRun {
    std::filesystem::path before, now;
};

/// Moves a run's folder to the desktop's trash. @returns both paths; nothing, with the folder unchanged, if a
/// trainer is using the run or moving fails
std::optional<TrashedRun> moveToTrash(const RunFolder& run);

/// Moves a run's folder back from the trash. @throws Error (disk, usage) if it is no longer there, or its
/// original path is taken
void restoreFromTrash(const TrashedRun& run);

/// Whether an undo step changes the queue or run folders, so that undoing it may start training. False for
/// null.
bool changesRuns(const QUndoCommand* step);

/// Makes the user's changes to the queue and to run folders, each as a step that can be undone.
class RunEdits : public QObject {
    Q_OBJECT

  public:
    RunEdits(QueueLauncher& queue, RunStore& store, QUndoStack& history, QObject* parent);

    /// Creates runs and appends them to the queue. Undoing it moves those that have not started to the trash.
    /// @returns the number of runs created; 0 after an error, which is emitted by `reported`
    std::size_t enqueue(const std::vector<NewRun>& runs);

    /// Removes runs from the queue; those never started go to the trash, those in training continue.
    void remove(const std::vector<std::string>& runs);

    /// Moves the folders of runs to the trash, and removes them from the queue; runs in training stay.
    void trashRuns(const std::vector<std::string>& runs);

    /// Sets the order of the queue. Unlisted runs follow the listed ones, in their present order.
    void setOrder(const std::vector<std::string>& runs);

    /// Moves runs one position in the queue, keeping their order. @param by  −1: earlier, 1: later
    void move(const std::vector<std::string>& runs, int by);

  signals:
    void reported(const QString& text);

  private:
    /// What undo restores: removed entries with their indices in the queue, and folders moved to the trash.
    struct RemovedRuns {
        std::vector<std::pair<std::size_t, RunQueue::Entry>> entries;
        std::vector<TrashedRun> folders;
    };
    void push(const QString& what, std::function<void()> redo, std::function<void()> undo);
    /// Removes runs from the queue; folders of those that never started are moved to the trash.
    void takeFromQueue(const std::vector<std::string>& runs, RemovedRuns& taken);
    /// Moves the folders of runs to the trash, and removes the runs from the queue.
    void trashFolders(const std::vector<std::string>& runs, RemovedRuns& taken);
    void removeEntries(const std::vector<std::string>& runs, RemovedRuns& taken);
    void restoreRemoved(RemovedRuns& taken);
    void applyOrder(const std::vector<std::string>& runs);
    std::vector<std::string> order() const;

    QueueLauncher& queue_;
    RunStore& store_;
    QUndoStack& history_;
};

}  // namespace roper
