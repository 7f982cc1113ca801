#include "ui/pages/training/training_state.h"

#include <QPalette>
#include <QSettings>
#include <ctime>
#include <map>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/experiment.h"
#include "core/compare/grouping.h"
#include "core/specification/cost.h"
#include "ui/live/run_store.h"
#include "ui/live/run_texts.h"
#include "ui/theme/error_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/theme.h"

namespace roper {

std::vector<Specification> twinsOf(const Specification& specification) {
    return mapped(twinMethods(),
                  [&](const std::string& position) { return withPosition(specification, position); });
}

TrainingState::TrainingState(RunStore& store, TrainerLauncher& launcher, QueueLauncher& queue,
                             QUndoStack& history, QObject* parent)
    : QObject(parent),
      store_(store),
      launcher_(launcher),
      queue_(queue),
      edits_(queue, store, history, this) {
    connect(&edits_, &RunEdits::reported, this, &TrainingState::reported);
    connect(&store_, &RunStore::changed, this, &TrainingState::removeNeverStarted);
}

/// Removes runs whose settings or text were found invalid before the first step, keeping only the error
/// message.
void TrainingState::removeNeverStarted() {
    for (const QString& name : QSet<QString>(started_)) {
        const RunWatcher* run = store_.find(name);
        if (run != nullptr && run->state() != RunState::failed && run->step() == 0) continue;
        const bool never_began = run != nullptr && run->step() == 0 &&
                                 run->status().exit_code == static_cast<int>(ErrorKind::usage);
        const QString why = never_began ? QString::fromStdString(run->status().error) : QString();
        if (never_began && !moveToTrash(run->folder())) {
            // The trainer has reported the error and is about to end.
            constexpr int kRetryDelay_ms = 300;
            QTimer::singleShot(kRetryDelay_ms, this, &TrainingState::removeNeverStarted);
            continue;
        }
        started_.remove(name);
        if (!never_began) continue;
        emit reported(tr("Not started: %1").arg(why));
    }
}

/// A warning, preceded by a space, if the disk has too little room for these runs; otherwise empty.
QString TrainingState::diskShortage(const std::vector<Specification>& specifications) const {
    const auto free = availableDisk(store_.folder());
    const auto problem = free ? diskProblem(specifications, *free) : std::nullopt;
    return problem ? tr(" Low disk space: %1.").arg(QString::fromStdString(*problem)) : QString();
}

QString TrainingState::expectedCosts(const Specification& specification) const {
    const Cost cost = costOf(specification);
    return tr("%1. A run takes %2.%3")
        .arg(QString::fromStdString(costText(cost)), expectedTimeText(expectedTime({specification})),
             diskShortage({specification}));
}

QString TrainingState::memoryShortage(const Specification& specification, int runs) const {
    if (specification.device.name.starts_with("cuda")) return {};
    const auto available = availableMemory();
    const double needed = runs * costOf(specification).memory_bytes;
    if (!available || needed <= *available) return {};
    return runs == 1 ? tr("A run needs about %1 GB of memory, but only %2 GB are free: use a smaller batch "
                          "size, length or width.")
                           .arg(needed / 1e9, 0, 'f', 1)
                           .arg(*available / 1e9, 0, 'f', 1)
                     : tr("%1 runs at the same time need about %2 GB of memory, but only %3 GB are free: "
                          "queue them instead.")
                           .arg(runs)
                           .arg(needed / 1e9, 0, 'f', 1)
                           .arg(*available / 1e9, 0, 'f', 1);
}

ExpectedTime TrainingState::expectedTime(const std::vector<Specification>& specifications) const {
    return StepTimes(recordsOf(store_), readSpeeds(store_.folder())).estimateTotal(specifications);
}

void TrainingState::start(const Specification& specification, bool as_twins) {
    std::vector<RunFolder> runs;
    const QString problem = errorOf([&] {
        const RunLabels labels =
            groupIntoExperiments({specification}, experimentNames(), std::time(nullptr)).front().labels;
        runs = as_twins ? launcher_.startTwins(specification, labels)
                        : std::vector{launcher_.start(specification, labels)};
    });
    for (const RunFolder& run : runs)
        started_.insert(QString::fromStdString(run.name()));
    emit reported(problem.isEmpty() ? tr("Started; the first steps will appear in a moment.") +
                                          diskShortage(std::vector(runs.size(), specification))
                                    : tr("Not started: %1").arg(problem));
    store_.refresh();
    if (!runs.empty()) emit started(QString::fromStdString(runs.back().name()));
}

std::set<std::string> TrainingState::experimentNames() const {
    std::set<std::string> names;
    for (const RunWatcher* run : store_.runs())
        names.insert(run->labels().experiment);
    return names;
}

/// Assigns each run to a new experiment or, with `join`, to an existing one with the same settings.
std::vector<NewRun> TrainingState::named(const std::vector<Specification>& specifications, bool join) const {
    std::vector<NewRun> runs = groupIntoExperiments(specifications, experimentNames(), std::time(nullptr));
    if (!join) return runs;
    std::map<std::string, std::pair<double, std::string>> newest;  // by settings: time of creation and name
    for (const RunWatcher* run : store_.runs()) {
        if (!run->specification()) continue;
        auto& known = newest[experimentKey(*run->specification(), {})];
        known = std::max(known, std::pair(run->createdAt_s(), run->labels().experiment));
    }
    for (NewRun& run : runs)
        if (const auto known = newest.find(experimentKey(run.specification, {})); known != newest.end())
            run.labels.experiment = known->second.second;
    return runs;
}

void TrainingState::enqueue(const std::vector<Specification>& specifications, int already_present) {
    if (specifications.empty()) {
        emit reported(tr("Nothing to queue: all of these runs already exist."));
        return;
    }
    const auto queued = static_cast<int>(edits_.enqueue(named(specifications, already_present > 0)));
    if (queued == 0) return;  // the error has been reported
    QString text =
        tr("%1 queued, to be trained even if this window is closed.").arg(countText(queued, tr("run")));
    if (already_present > 0)
        text += tr(" %1 with these settings and seeds already existed.").arg(already_present);
    emit reported(text + diskShortage(specifications));
}

std::vector<Specification> TrainingState::missingTwins(const Specification& specification, int seeds) const {
    std::set<std::pair<std::string, std::int64_t>> there;
    for (const RunRecord& run : recordsOf(store_))
        if (run.state != RunState::failed &&
            run.specification.training.data_seed == run.specification.training.model_seed)
            there.emplace(groupKey(run.specification), run.specification.training.data_seed);
    std::vector<Specification> wanted;
    for (int i = 0; i < seeds; ++i) {
        for (Specification& twin : twinsOf(specification)) {
            twin.training.data_seed += i;
            twin.training.model_seed = twin.training.data_seed;
            if (there.count({groupKey(twin), twin.training.data_seed}) == 0) wanted.push_back(twin);
        }
    }
    return wanted;
}

QColor TrainingState::colorOf(const RunWatcher& run, int number, const QPalette& palette) {
    auto chosen = chosen_colors_.find(run.name());
    if (chosen == chosen_colors_.end())
        chosen = chosen_colors_.insert(run.name(), QSettings().value("colors/" + run.name()).value<QColor>());
    if (chosen->isValid()) return *chosen;
    const std::string position =
        run.specification() ? run.specification()->methodName() : Specification().model.position;
    return Theme::of(palette).run(position, number);
}

void TrainingState::setColor(const QString& run, const QColor& color) {
    QSettings().setValue("colors/" + run, color);
    chosen_colors_[run] = color;
}

void TrainingState::rename(const QString& from, const QString& to) {
    const QColor chosen = chosen_colors_.take(from);
    if (chosen.isValid()) setColor(to, chosen);
    QSettings().remove("colors/" + from);
}

}  // namespace roper
