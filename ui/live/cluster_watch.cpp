#include "ui/live/cluster_watch.h"

#include <QtConcurrent>
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr int kBetweenClusterLooks_ms = 5000;

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<ClusterView> viewWithoutScheduler(const std::filesystem::path& runs) {
    try {
        return lookAtSubmissions(runs);
    } catch (const std::exception&) {
        return std::nullopt;  // the reason was reported earlier
    }
}

/// Runs of a sweep whose last submission used the same options.
struct Resubmission {
    std::string sweep;
    SlurmOptions options;
    std::vector<std::string> runs;
};

/// @throws Error (usage) if the last submission of a run was by another user, or from another machine
std::vector<Resubmission> bySubmission(const ClusterView& view, const std::vector<std::string>& runs) {
    const std::vector<Submission>& submissions = view.submissions;
    std::vector<Resubmission> all;
    for (const std::string& run : runs) {
        const auto newest =
            std::find_if(submissions.rbegin(), submissions.rend(), [&](const Submission& one) {
                return std::any_of(one.elements.begin(), one.elements.end(),
                                   [&](const auto& element) { return holds(element, run); });
            });
        if (newest == submissions.rend()) continue;
        const auto options = view.own.find(newest->name);
        if (options == view.own.end())
            throw Error(ErrorKind::usage, run + " was not submitted by you from here; `roper-train sweep " +
                                              newest->sweep + " --slurm` submits it, with options of yours");
        auto same = std::find_if(all.begin(), all.end(), [&](const Resubmission& one) {
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
        if (hasSubmissions()) look();
    });
    timer_.setInterval(kBetweenClusterLooks_ms);
}

ClusterWatch::~ClusterWatch() = default;

bool ClusterWatch::hasSubmissions() const {
    std::error_code unreadable;
    return std::filesystem::is_directory(submissionsFolder(runs_).path(), unreadable);
}

void ClusterWatch::setWatching(bool watching) {
    if (watching == watching_) return;
    watching_ = watching;
    if (!watching) return timer_.stop();
    timer_.start();
    if (hasSubmissions()) look();
}

void ClusterWatch::look() {
    if (!busy_) start({});
}

void ClusterWatch::start(const std::function<QString()>& work) {
    if (busy_) {
        waiting_.push_back(work);
        return;
    }
    busy_ = true;
    emit changed();
    QtConcurrent::run([work, runs = runs_] {
        Outcome outcome;
        try {
            if (work) outcome.said = work();
        } catch (const std::exception& error) {
            outcome.said = QString::fromStdString(error.what());
        }
        try {
            outcome.view = lookAtCluster(runs);
        } catch (const std::exception& error) {
            outcome.problem = QString::fromStdString(error.what());
            outcome.view = viewWithoutScheduler(runs);
        }
        return outcome;
    }).then(this, [this](const Outcome& outcome) { take(outcome); });
}

void ClusterWatch::take(Outcome outcome) {
    busy_ = false;
    if (outcome.view) view_ = std::move(*outcome.view);
    problem_ = outcome.problem;
    if (!outcome.said.isEmpty()) emit said(outcome.said);
    emit changed();
    if (waiting_.empty()) return;
    const auto next = waiting_.front();
    waiting_.erase(waiting_.begin());
    start(next);
}

std::vector<SlurmElement> ClusterWatch::elementsOf(const std::vector<std::string>& runs) const {
    std::map<std::string, SlurmElement> found;
    for (const SweepElement& one : view_.elements)
        if (one.element && holds(runs, one.run) && view_.own.count(one.element->name) > 0)
            found.emplace(one.element->title(), *one.element);
    std::vector<SlurmElement> elements;
    for (const auto& [title, element] : found)
        elements.push_back(element);
    return elements;
}

std::vector<std::string> ClusterWatch::othersIn(const std::vector<std::string>& runs) const {
    const std::vector<SlurmElement> elements = elementsOf(runs);
    std::vector<std::string> others;
    for (const SweepElement& one : view_.elements)
        if (one.element && one.state != RunState::failed && !holds(runs, one.run) &&
            std::find(elements.begin(), elements.end(), *one.element) != elements.end())
            others.push_back(one.run);
    return others;
}

void ClusterWatch::cancel(const std::vector<SlurmElement>& elements) {
    start([elements] {
        cancelElements(elements);
        return tr("%1 cancelled; what they had trained is kept")
            .arg(QString::fromStdString(countOf(elements.size(), "element")));
    });
}

void ClusterWatch::requeue(const std::vector<std::string>& runs) {
    start([elements = elementsOf(runs)] {
        // If one element has ended in the meantime, the others are still requeued.
        QStringList problems;
        for (const SlurmElement& element : elements) {
            try {
                requeueElement(element);
            } catch (const Error& error) {
                problems << QString::fromStdString(error.what());
            }
        }
        const std::size_t done = elements.size() - static_cast<std::size_t>(problems.size());
        const QString text = tr("%1 saved and put back into Slurm's queue")
                                 .arg(QString::fromStdString(countOf(done, "element")));
        return problems.isEmpty() ? text : text + QStringLiteral("; ") + problems.join(QStringLiteral("; "));
    });
}

void ClusterWatch::submit(const std::vector<std::string>& runs) {
    start([view = view_, runs, folder = runs_] {
        const std::vector<Resubmission> wanted = bySubmission(view, runs);
        std::size_t submitted = 0;
        std::vector<std::string> jobs;
        QStringList said;
        for (const Resubmission& one : wanted) {
            try {
                const SubmissionReport report = submitMissing(folder, one.sweep, one.runs, one.options);
                submitted += report.missing.size();
                jobs.insert(jobs.end(), report.jobs.begin(), report.jobs.end());
            } catch (const Error& error) {
                said << QString::fromStdString(error.what());
            }
        }
        if (!jobs.empty())
            said.prepend(tr("%1 submitted: job %2")
                             .arg(QString::fromStdString(countOf(submitted, "run")),
                                  QString::fromStdString(join(jobs, ", "))));
        if (said.isEmpty()) said << tr("All missing runs are already submitted");
        return said.join(QStringLiteral("; "));
    });
}

}  // namespace roper
