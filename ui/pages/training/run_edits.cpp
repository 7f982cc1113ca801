#include "ui/pages/training/run_edits.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QUndoCommand>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/runs/run_recorder.h"
#include "ui/theme/error_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

/// An undo step that may fail: it then reports the error and removes itself from the history.
class RunEdit : public QUndoCommand {
  public:
    RunEdit(const QString& what, RunEdits& edits, std::function<void()> redo, std::function<void()> undo)
        : QUndoCommand(what), edits_(edits), redo_(std::move(redo)), undo_(std::move(undo)) {}

    void redo() override { attempt(redo_); }
    void undo() override { attempt(undo_); }

  private:
    void attempt(const std::function<void()>& step) {
        const QString problem = errorOf(step);
        if (problem.isEmpty()) return;
        setObsolete(true);
        emit edits_.reported(problem);
    }

    RunEdits& edits_;
    std::function<void()> redo_, undo_;
};

}  // namespace

bool changesRuns(const QUndoCommand* step) {
    return dynamic_cast<const RunEdit*>(step) != nullptr;
}

std::optional<TrashedRun> moveToTrash(const RunFolder& run) {
    // If the parent folder of the trash is missing, Qt 6.4 creates a trash folder in the current
    // working directory.
    if (!QDir().mkpath(QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation)))
        return std::nullopt;
    try {
        const RunRecorder nobody_trains_it(run);
    } catch (const Error&) {
        return std::nullopt;
    }
    QString now;
    if (!QFile::moveToTrash(QString::fromStdString(run.path().string()), &now)) return std::nullopt;
    return TrashedRun{run.path(), now.toStdString()};
}

void restoreFromTrash(const TrashedRun& run) {
    if (std::filesystem::exists(run.before))
        throw Error(ErrorKind::usage, run.before.string() + " already exists; the run stays in the trash");
    std::error_code problem;
    std::filesystem::rename(run.now, run.before, problem);
    if (problem)
        throw Error(ErrorKind::disk, "cannot move " + run.now.string() + " back to " + run.before.string() +
                                         ": " + problem.message());
    // The .trashinfo file with the original path (freedesktop.org Trash specification 1.0).
    const std::filesystem::path info_file =
        run.now.parent_path().parent_path() / "info" / (run.now.filename().string() + ".trashinfo");
    std::filesystem::remove(info_file, problem);
}

RunEdits::RunEdits(QueueLauncher& queue, RunStore& store, QUndoStack& history, QObject* parent)
    : QObject(parent), queue_(queue), store_(store), history_(history) {}

void RunEdits::push(const QString& what, std::function<void()> redo, std::function<void()> undo) {
    history_.push(new RunEdit(what, *this, std::move(redo), std::move(undo)));  // executes it
}

std::size_t RunEdits::enqueue(const std::vector<NewRun>& runs) {
    if (runs.empty()) return 0;
    auto names = std::make_shared<std::vector<std::string>>();
    auto taken = std::make_shared<RemovedRuns>();
    push(
        tr("adding %1 to the queue").arg(countText(static_cast<int>(runs.size()), tr("run"))),
        [this, runs, names, taken] {
            if (names->empty())
                *names = queue_.enqueue(runs);
            else
                restoreRemoved(*taken);
            store_.refresh();
        },
        [this, names, taken] { takeFromQueue(*names, *taken); });
    return names->size();
}

void RunEdits::remove(const std::vector<std::string>& runs) {
    if (runs.empty()) return;
    auto taken = std::make_shared<RemovedRuns>();
    push(
        tr("removal of %1 from the queue").arg(countText(static_cast<int>(runs.size()), tr("run"))),
        [this, runs, taken] { takeFromQueue(runs, *taken); }, [this, taken] { restoreRemoved(*taken); });
}

void RunEdits::trashRuns(const std::vector<std::string>& runs) {
    if (runs.empty()) return;
    auto taken = std::make_shared<RemovedRuns>();
    push(
        tr("deletion of %1").arg(countText(static_cast<int>(runs.size()), tr("run"))),
        [this, runs, taken] { trashFolders(runs, *taken); }, [this, taken] { restoreRemoved(*taken); });
}

void RunEdits::setOrder(const std::vector<std::string>& runs) {
    const std::vector<std::string> before = order();
    if (runs == before) return;
    push(
        tr("reordering of the queue"), [this, runs] { applyOrder(runs); },
        [this, before] { applyOrder(before); });
}

void RunEdits::move(const std::vector<std::string>& runs, int by) {
    std::vector<std::string> moved = order();
    // Starts at the end toward which the runs move, so that adjacent ones keep their order.
    if (by > 0) std::ranges::reverse(moved);
    for (std::size_t i = 1; i < moved.size(); ++i)
        if (hasElement(runs, moved[i]) && !hasElement(runs, moved[i - 1])) std::swap(moved[i], moved[i - 1]);
    if (by > 0) std::ranges::reverse(moved);
    setOrder(moved);
}

std::vector<std::string> RunEdits::order() const {
    return mapped(queue_.queue().entries, &RunQueue::Entry::run);
}

void RunEdits::applyOrder(const std::vector<std::string>& runs) {
    queue_.change([&](RunQueue& queue) {
        const auto index = [&](const RunQueue::Entry& entry) {
            return std::ranges::find(runs, entry.run) - runs.begin();
        };
        std::ranges::stable_sort(queue.entries, {}, index);
    });
}

void RunEdits::removeEntries(const std::vector<std::string>& runs, RemovedRuns& taken) {
    taken = {};
    queue_.change([&](RunQueue& queue) {
        for (std::size_t i = 0; i < queue.entries.size(); ++i)
            if (hasElement(runs, queue.entries[i].run)) taken.entries.emplace_back(i, queue.entries[i]);
        std::erase_if(queue.entries, [&](const auto& entry) { return hasElement(runs, entry.run); });
    });
}

void RunEdits::takeFromQueue(const std::vector<std::string>& runs, RemovedRuns& taken) {
    removeEntries(runs, taken);
    QStringList still_training;
    for (const auto& [index, entry] : taken.entries) {
        const RunWatcher* run = store_.find(QString::fromStdString(entry.run));
        if (run == nullptr) continue;
        if (run->isActive()) still_training << store_.titleOf(run->name());
        if (run->state() != RunState::queued || run->step() > 0) continue;
        if (const auto folder = moveToTrash(run->folder())) taken.folders.push_back(*folder);
    }
    store_.refresh();
    if (!still_training.isEmpty())
        emit reported(
            tr("Removed from the queue, but still training: %1. Use “Stop” in the list of runs to end it.")
                .arg(still_training.join(", ")));
}

void RunEdits::trashFolders(const std::vector<std::string>& runs, RemovedRuns& taken) {
    std::vector<TrashedRun> folders;
    std::vector<std::string> gone;
    QStringList kept;
    for (const std::string& name : runs) {
        const RunWatcher* run = store_.find(QString::fromStdString(name));
        if (run == nullptr) continue;
        const auto folder = run->isActive() ? std::nullopt : moveToTrash(run->folder());
        if (!folder) {
            kept << store_.titleOf(run->name());
            continue;
        }
        folders.push_back(*folder);
        gone.push_back(name);
    }
    const auto waits = [this](const std::string& name) { return queue_.queuePosition(name) >= 0; };
    taken = {};
    if (std::ranges::any_of(gone, waits)) removeEntries(gone, taken);
    taken.folders = std::move(folders);
    store_.refresh();
    if (!kept.isEmpty())
        emit reported(tr("Could not be moved to the trash: %1. If a run is training, stop it first.")
                          .arg(kept.join(", ")));
    else
        emit reported(tr("%1 moved to the trash; Undo restores.")
                          .arg(countText(static_cast<int>(gone.size()), tr("run"))));
}

void RunEdits::restoreRemoved(RemovedRuns& taken) {
    for (const TrashedRun& folder : taken.folders)
        restoreFromTrash(folder);
    if (!taken.entries.empty())
        queue_.change([&](RunQueue& queue) {
            for (const auto& [index, entry] : taken.entries) {
                std::erase_if(queue.entries,
                              [&run = entry.run](const auto& other) { return other.run == run; });
                const auto at = static_cast<std::ptrdiff_t>(std::min(index, queue.entries.size()));
                queue.entries.insert(queue.entries.begin() + at, entry);
            }
        });
    taken = {};
    store_.refresh();
}

}  // namespace roper
