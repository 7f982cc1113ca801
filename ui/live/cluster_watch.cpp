#include "ui/live/cluster_watch.h"

#include <QtConcurrent>
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/theme/error_text.h"

namespace roper {
namespace {

constexpr int kClusterRefreshInterval_ms = 5000;

std::optional<ClusterView> viewWithoutScheduler(const std::filesystem::path& runs) {
    try {
        return readClusterView(runs);
    } catch (const std::exception&) {
        return std::nullopt;  // the failed query has reported the reason
    }
}

/// Runs of a sweep whose last submissions used the same options.
struct Resubmission {
    std::string sweep;
    SlurmOptions options;
    std::vector<std::string> runs;
};

/// Groups runs by sweep and by the options of their last submission.
/// @throws Error (usage) if the last submission of a run was by another user, or from another machine
std::vector<Resubmission> bySubmission(const ClusterView& view, const std::vector<std::string>& runs) {
    const std::vector<Submission>& submissions = view.submissions;
    std::vector<Resubmission> all;
    for (const std::string& run : runs) {
        const auto newest =
            std::find_if(submissions.rbegin(), submissions.rend(), [&](const Submission& one) {
                return std::ranges::any_of(one.array_tasks,
                                           [&](const auto& names) { return hasElement(names, run); });
            });
        if (newest == submissions.rend()) continue;
        const auto options = view.own_submissions.find(newest->name);
        if (options == view.own_submissions.end())
            throw Error(ErrorKind::usage, "you did not submit " + run +
                                              " from this machine; “roper-train sweep " + newest->sweep +
                                              " --slurm” submits it with options that you choose");
        auto same = std::ranges::find_if(all, [&](const Resubmission& one) {
            return one.sweep == newest->sweep && one.options == options->second;
        });
        if (same == all.end()) same = all.insert(all.end(), {newest->sweep, options->second, {}});
        same->runs.push_back(run);
    }
    return all;
}

}  // namespace

ClusterWatch::ClusterWatch(std::filesystem::path runs, QObject* parent)
    : QObject(parent), runs_(std::move(runs)) {
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (hasSubmissions()) refresh();
    });
    timer_.setInterval(kClusterRefreshInterval_ms);
}

bool ClusterWatch::hasSubmissions() const {
    std::error_code unreadable;
    return std::filesystem::is_directory(submissionsFolder(runs_).path(), unreadable);
}

void ClusterWatch::setWatching(bool watching) {
    if (watching == watching_) return;
    watching_ = watching;
    if (!watching) return timer_.stop();
    timer_.start();
    if (hasSubmissions()) refresh();
}

void ClusterWatch::refresh() {
    if (!busy_) start({});
}

void ClusterWatch::start(const std::function<QString()>& work) {
    if (busy_) {
        pending_actions_.push_back(work);
        return;
    }
    busy_ = true;
    emit changed();
    QtConcurrent::run([work, runs = runs_] {
        Outcome outcome;
        try {
            if (work) outcome.reported = work();
        } catch (const std::exception& error) {
            outcome.reported = QString::fromStdString(error.what());
        }
        try {
            outcome.view = queryCluster(runs);
        } catch (const std::exception& error) {
            outcome.problem = QString::fromStdString(error.what());
            outcome.view = viewWithoutScheduler(runs);
        }
        return outcome;
    }).then(this, [this](const Outcome& outcome) { applyOutcome(outcome); });
}

void ClusterWatch::applyOutcome(Outcome outcome) {
    busy_ = false;
    if (outcome.view) view_ = std::move(*outcome.view);
    problem_ = outcome.problem;
    if (!outcome.reported.isEmpty()) emit reported(outcome.reported);
    emit changed();
    if (pending_actions_.empty()) return;
    const auto next = pending_actions_.front();
    pending_actions_.erase(pending_actions_.begin());
    start(next);
}

std::vector<SlurmArrayTask> ClusterWatch::arrayTasksOf(const std::vector<std::string>& runs) const {
    std::map<std::string, SlurmArrayTask> found;
    for (const SweepRunStatus& one : view_.runs)
        if (one.array_task && hasElement(runs, one.run) &&
            view_.own_submissions.count(one.array_task->name) > 0)
            found.emplace(one.array_task->title(), *one.array_task);
    std::vector<SlurmArrayTask> array_tasks;
    for (const auto& [title, array_task] : found)
        array_tasks.push_back(array_task);
    return array_tasks;
}

std::vector<std::string> ClusterWatch::otherRunsInTasksOf(const std::vector<std::string>& runs) const {
    const std::vector<SlurmArrayTask> array_tasks = arrayTasksOf(runs);
    std::vector<std::string> others;
    for (const SweepRunStatus& one : view_.runs)
        if (one.array_task && one.state != RunState::failed && !hasElement(runs, one.run) &&
            hasElement(array_tasks, *one.array_task))
            others.push_back(one.run);
    return others;
}

void ClusterWatch::cancel(const std::vector<SlurmArrayTask>& array_tasks) {
    start([array_tasks] {
        cancelArrayTasks(array_tasks);
        return tr("%1 cancelled; training progress is kept")
            .arg(QString::fromStdString(countOf(array_tasks.size(), "array task")));
    });
}

void ClusterWatch::requeue(const std::vector<std::string>& runs) {
    start([array_tasks = arrayTasksOf(runs)] {
        // If one array task has ended in the meantime, the others are still requeued.
        QStringList problems;
        for (const SlurmArrayTask& array_task : array_tasks) {
            const QString problem = errorOf([&] { requeueArrayTask(array_task); });
            if (!problem.isEmpty()) problems << problem;
        }
        const std::size_t done = array_tasks.size() - static_cast<std::size_t>(problems.size());
        const QString text = tr("%1 saved and put back into Slurm's queue")
                                 .arg(QString::fromStdString(countOf(done, "array task")));
        return problems.isEmpty() ? text : text + QStringLiteral("; ") + problems.join(QStringLiteral("; "));
    });
}

void ClusterWatch::submit(const std::vector<std::string>& runs) {
    start([view = view_, runs, folder = runs_] {
        std::size_t submitted = 0;
        std::vector<std::string> jobs;
        QStringList reported;
        for (const Resubmission& one : bySubmission(view, runs)) {
            const QString problem = errorOf([&] {
                const SubmissionReport report = submitRuns(folder, one.sweep, one.runs, one.options);
                submitted += report.runs_to_submit.size();
                jobs.insert(jobs.end(), report.jobs.begin(), report.jobs.end());
            });
            if (!problem.isEmpty()) reported << problem;
        }
        if (!jobs.empty())
            reported.prepend(tr("%1 submitted: job %2")
                                 .arg(QString::fromStdString(countOf(submitted, "run")),
                                      QString::fromStdString(join(jobs, ", "))));
        if (reported.isEmpty()) reported << tr("All missing runs are already submitted");
        return reported.join(QStringLiteral("; "));
    });
}

}  // namespace roper
