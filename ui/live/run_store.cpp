#include "ui/live/run_store.h"

#include <QElapsedTimer>
#include <set>

#include "core/base/error.h"
#include "core/compare/experiment.h"
#include "core/compare/grouping.h"
#include "ui/live/published_models.h"

namespace roper {
namespace {

constexpr int kActive_ms = 60;  // rows appear well within 100 ms
constexpr int kIdle_ms = 1000;
constexpr int kReading_ms = 12;  // time per active interval for reading runs that do not train

}  // namespace

RunStore::RunStore(std::filesystem::path runs, QObject* parent) : QObject(parent), runs_(std::move(runs)) {
    connect(&active_timer_, &QTimer::timeout, this, &RunStore::pollActive);
    connect(&idle_timer_, &QTimer::timeout, this, &RunStore::refresh);
    titles_timer_.setSingleShot(true);
    titles_timer_.setInterval(0);
    connect(&titles_timer_, &QTimer::timeout, this, &RunStore::announceTitles);
    active_timer_.start(kActive_ms);
    idle_timer_.start(kIdle_ms);
}

std::vector<RunWatcher*> RunStore::runs() const {
    std::vector<RunWatcher*> all;
    for (const auto& [name, watcher] : watchers_)
        all.push_back(watcher);
    return all;
}

RunWatcher* RunStore::find(const QString& name) const {
    const auto found = watchers_.find(name);
    return found == watchers_.end() ? nullptr : found->second;
}

void RunStore::refresh() {
    scan();
    pollIdle();
}

void RunStore::readAll() {
    refresh();
    for (const auto& [name, watcher] : watchers_)
        while (watcher->hasUnreadData())
            watcher->poll();
}

void RunStore::scan() {
    std::vector<RunFolder> folders;
    try {
        folders = listRuns(runs_);
    } catch (const Error&) {
        return;  // the folder may be readable next time
    }
    std::set<QString> present;
    for (const RunFolder& folder : folders) {
        const QString name = QString::fromStdString(folder.name());
        present.insert(name);
        if (watchers_.count(name) > 0) continue;
        auto* watcher = new RunWatcher(folder, this);
        watchers_[name] = watcher;
        connect(watcher, &RunWatcher::statusChanged, this, &RunStore::changed);
        connect(watcher, &RunWatcher::labelsChanged, this, &RunStore::changed);
        connect(watcher, &RunWatcher::labelsChanged, this, &RunStore::forgetTitles);
        connect(watcher, &RunWatcher::metricsAdded, this, &RunStore::changed);
        connect(watcher, &RunWatcher::evaluationsAdded, this, &RunStore::changed);
        watcher->pollBriefly();
        forgetTitles();
        emit runAdded(watcher);
    }
    for (auto at = watchers_.begin(); at != watchers_.end();) {
        if (present.count(at->first) > 0) {
            ++at;
            continue;
        }
        const QString name = at->first;
        at->second->deleteLater();
        at = watchers_.erase(at);
        forgetTitles();
        emit runRemoved(name);
        emit changed();
    }
}

/// A new or changed run may change the titles of others.
void RunStore::forgetTitles() {
    titles_.reset();
    titles_timer_.start();
}

const RunStore::Titles& RunStore::titles() const {
    if (titles_) return *titles_;
    titles_.emplace();
    for (const auto& [name, watcher] : watchers_)
        titles_->insert(name, name);
    const std::vector<RunRecord> records = recordsOf(*this);
    const std::vector<std::string> names = displayNames(records);
    for (std::size_t i = 0; i < records.size(); ++i)
        titles_->insert(QString::fromStdString(records[i].name), QString::fromStdString(names[i]));
    return *titles_;
}

QString RunStore::titleOf(const QString& model) const {
    const auto found = titles().constFind(model);
    return found == titles().cend() ? modelTitle(model) : *found;
}

void RunStore::announceTitles() {
    if (titles() == announced_titles_) return;
    announced_titles_ = titles();
    emit titlesChanged();
}

/// Polls runs in training every time. Of the others, possibly hundreds with long files, it polls as many as
/// fit into a short time slice, so that the window stays responsive.
void RunStore::pollActive() {
    QElapsedTimer clock;
    clock.start();
    for (const auto& [name, watcher] : watchers_) {
        const bool is_live = watcher->isActive() || watcher->state() == RunState::queued;
        if (is_live || (watcher->hasUnreadData() && clock.elapsed() < kReading_ms)) watcher->poll();
    }
}

void RunStore::pollIdle() {
    for (const auto& [name, watcher] : watchers_)
        if (!watcher->isActive() && !watcher->hasUnreadData()) watcher->pollIfChanged();
}

std::optional<RunRecord> recordOf(const RunWatcher& run) {
    if (!run.specification()) return std::nullopt;
    return RunRecord{run.folder().name(), *run.specification(), run.state(),
                     run.status().host,   run.metrics(),        run.evaluations(),
                     run.labels(),        run.computations(),   run.createdAt_s()};
}

QString twinNameOf(const RunStore& store, const QString& run) {
    if (run.isEmpty()) return {};
    const std::vector<RunRecord> records = recordsOf(store);
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (QString::fromStdString(records[i].name) != run) continue;
        const auto twin = findTwin(records, i);
        return twin ? QString::fromStdString(records[*twin].name) : QString();
    }
    return {};
}

}  // namespace roper
