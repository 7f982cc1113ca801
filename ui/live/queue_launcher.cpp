#include "ui/live/queue_launcher.h"

#include <QDateTime>
#include <algorithm>

#include "core/base/error.h"
#include "core/corpus/open_task.h"
#include "core/runs/run_recorder.h"
#include "ui/live/trainer_launcher.h"

namespace roper {
namespace {

constexpr int kQueueRefreshInterval_ms = 1000;
constexpr qint64 kMinRestartInterval_ms = 5000;  // limits restarts of a worker that fails to start

}  // namespace

QueueLauncher::QueueLauncher(std::filesystem::path runs, WorkerMode worker_mode, QObject* parent)
    : QObject(parent), runs_(std::move(runs)), worker_mode_(worker_mode) {
    connect(&timer_, &QTimer::timeout, this, &QueueLauncher::refresh);
    timer_.start(kQueueRefreshInterval_ms);
    refresh();
}

std::vector<std::string> QueueLauncher::enqueue(const std::vector<NewRun>& runs) {
    for (const NewRun& run : runs) {
        requireValid(run.specification, "the form");
        requireReadableText(run.specification.task);
    }
    std::vector<std::string> names = enqueueRuns(runs_, runs);
    refresh();
    return names;
}

void QueueLauncher::enqueueRun(const RunFolder& folder) {
    resetToQueued(folder);
    approveRuns(runs_, {folder.name()});  // even if it is already queued
    change([&](RunQueue& queue) {
        std::erase_if(queue.entries, [&](const auto& entry) { return entry.run == folder.name(); });
        queue.entries.push_back({folder.name(), false});
    });
}

int QueueLauncher::queuePosition(const std::string& run) const {
    const auto found = std::ranges::find(queue_.entries, run, &RunQueue::Entry::run);
    return found == queue_.entries.end() ? -1 : static_cast<int>(found - queue_.entries.begin());
}

void QueueLauncher::renameRun(const RunFolder& folder, const std::string& to) {
    transferApproval(runs_, folder.name(), to);
    changeQueue(
        runs_,
        [&](RunQueue& queue) {
            ::roper::renameRun(folder, to);
            for (RunQueue::Entry& entry : queue.entries)
                if (entry.run == folder.name()) entry.run = to;
        },
        AutoApproval::none);
    refresh();
}

void QueueLauncher::change(const std::function<void(RunQueue&)>& change) {
    changeQueue(runs_, change);
    refresh();
}

void QueueLauncher::refresh() {
    constexpr int kRefreshesBetweenChecks = 10;
    const RunQueue before = queue_;
    const QString problem_before = problem_;
    const std::vector<WaitingRun> unapproved_before = unapproved_;
    problem_.clear();
    try {
        std::error_code missing;
        const auto written = std::filesystem::last_write_time(queuePath(runs_).path(), missing);
        if (missing || written != read_at_ || ++refreshes_since_check_ >= kRefreshesBetweenChecks) {
            queue_ = readQueue(runs_);
            unapproved_ = unapprovedRuns(runs_);
            refreshes_since_check_ = 0;
        }
        read_at_ = missing ? std::filesystem::file_time_type{} : written;
        if (worker_mode_ == WorkerMode::keep_worker && hasWork() && !isQueueBeingProcessed(runs_))
            startWorker();
    } catch (const Error& error) {
        read_at_ = {};
        problem_ = QString::fromStdString(error.what());
    }
    if (queue_ != before || problem_ != problem_before || unapproved_ != unapproved_before) emit changed();
}

bool QueueLauncher::needsApproval(const std::string& run) const {
    return std::ranges::count(unapproved_, run, &WaitingRun::name) > 0;
}

bool QueueLauncher::hasWork() const {
    return std::ranges::any_of(queue_.entries, [this](const RunQueue::Entry& entry) {
        return !entry.on_hold && !needsApproval(entry.run);
    });
}

void QueueLauncher::approve() {
    approveFingerprints(runs_, unapproved_);
    read_at_ = {};
    refresh();
}

void QueueLauncher::startWorker() {
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    if (now - started_ms_ < kMinRestartInterval_ms) return;
    started_ms_ = now;
    startDetached(
        {QStringLiteral("queue"), QStringLiteral("--runs"),
         QString::fromStdString(std::filesystem::absolute(runs_).string()), QStringLiteral("--background")},
        FilePath::inside(runs_, "queue-messages.txt"));
}

}  // namespace roper
