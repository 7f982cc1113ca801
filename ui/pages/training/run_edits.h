#pragma once

#include <QObject>
#include <QUndoStack>

#include "ui/live/queue_launcher.h"
#include "ui/live/run_store.h"
#include "ui/live/trash.h"

namespace roper {

/// What a person does to the queue and to the folders of runs; every step can be undone.
class RunEdits : public QObject {
    Q_OBJECT

  public:
    RunEdits(QueueLauncher& queue, RunStore& store, QUndoStack& history, QObject* parent);

    /// Makes runs and puts them at the end. Undone, what of it has not begun is in the trash.
    /// @returns how many; none if it could not be done, which `said` tells
    std::size_t enqueue(const std::vector<NewRun>& runs);

    /// Takes runs out of the queue; those that never began go to the trash, those that train go on.
    void remove(const std::vector<std::string>& runs);

    /// Moves the folders of runs to the trash, and takes them out of the queue; those that train stay.
    void discard(const std::vector<std::string>& runs);

    /// Trains in this order. Runs that are not named keep their place behind those that are.
    void setOrder(const std::vector<std::string>& runs);

    /// Moves runs, in the order in which they wait, by one place: −1 earlier, 1 later.
    void move(const std::vector<std::string>& runs, int by);

  signals:
    void said(const QString& text);

  private:
    /// Entries with their places, and the folders that went to the trash with them.
    struct Taken {
        std::vector<std::pair<std::size_t, RunQueue::Entry>> entries;
        std::vector<TrashedRun> folders;
    };
    bool push(const QString& what, std::function<void()> redo, std::function<void()> undo);
    void takeOut(const std::vector<std::string>& runs, Taken& taken);
    void takeAway(const std::vector<std::string>& runs, Taken& taken);
    void takeEntries(const std::vector<std::string>& runs, Taken& taken);
    void putBack(Taken& taken);
    void applyOrder(const std::vector<std::string>& runs);
    std::vector<std::string> order() const;

    QueueLauncher& queue_;
    RunStore& store_;
    QUndoStack& history_;
};

}  // namespace roper
