#include "ui/pages/training/runs_model.h"

#include <QDateTime>
#include <algorithm>
#include <limits>
#include <map>

#include "core/compare/experiment.h"
#include "core/compare/grouping.h"
#include "ui/charts/curve_letters.h"
#include "ui/live/run_notice.h"
#include "ui/live/run_records.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/numbers.h"
#include "ui/theme/plain_text.h"
#include "ui/theme/swatch.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<EvaluationRow> lastEvaluation(const RunWatcher& run) {
    if (run.evaluations().empty()) return std::nullopt;
    return run.evaluations().back();
}

double evaluationValue(const std::optional<EvaluationRow>& row) {
    if (!row) return -kInfinity;
    return row->correct ? static_cast<double>(*row->correct) : -row->loss.value_or(0);
}

/// Tells a run's experiment apart; runs whose specification cannot be read share one.
QString keyOf(const RunWatcher& run) {
    if (!run.specification()) return {};
    return QString::fromStdString(experimentKey(*run.specification(), run.labels().experiment));
}

QString seedText(const Specification& specification) {
    const auto& training = specification.training;
    return training.data_seed == training.model_seed
               ? RunsModel::tr("seed %1").arg(training.data_seed)
               : RunsModel::tr("seeds %1, %2").arg(training.data_seed).arg(training.model_seed);
}

QString stateText(const RunWatcher& run) {
    if (run.isSuspended()) return RunsModel::tr("suspended");
    return run.isBroken() ? RunsModel::tr("broken") : QString::fromStdString(stateName(run.state()));
}

}  // namespace

QString evaluationCell(const std::optional<EvaluationRow>& row) {
    if (!row) return {};
    if (row->correct) return QStringLiteral("%1/%2").arg(*row->correct).arg(row->of.value_or(0));
    return row->loss ? QString::number(*row->loss, 'f', 4) : QString();
}

RunsModel::RunsModel(RunStore& store, QObject* parent) : QAbstractItemModel(parent), store_(store) {
    connect(&store_, &RunStore::runAdded, this, [this](RunWatcher* run) {
        place(run);
        group_timer_.start();
    });
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        take(name);
        colors_.remove(name);
        group_timer_.start();
    });
    // Rows change many times a second; a table is read a few times a second.
    constexpr int kBetweenRefreshes_ms = 150, kBetweenGroupings_ms = 300;
    for (auto [timer, interval] :
         {std::pair{&refresh_timer_, kBetweenRefreshes_ms}, {&group_timer_, kBetweenGroupings_ms}}) {
        timer->setSingleShot(true);
        timer->setInterval(interval);
    }
    connect(&refresh_timer_, &QTimer::timeout, this, &RunsModel::refresh);
    connect(&group_timer_, &QTimer::timeout, this, &RunsModel::nameGroups);
    connect(&store_, &RunStore::changed, this, [this] {
        if (!refresh_timer_.isActive()) refresh_timer_.start();
    });
    for (RunWatcher* run : store_.runs())
        place(run);
    nameGroups();
}

/// Puts a run into its experiment, which is made if it is the first.
void RunsModel::place(RunWatcher* run) {
    const QString key = keyOf(*run);
    const auto found = std::find_if(experiments_.begin(), experiments_.end(),
                                    [&](const auto& experiment) { return experiment->key == key; });
    keys_[run->name()] = key;
    if (found == experiments_.end()) {
        auto made = std::make_unique<Experiment>();
        made->key = key;
        made->name =
            run->specification()
                ? QString::fromStdString(experimentName(*run->specification(), run->labels().experiment))
                : tr("Cannot be read");
        made->title = made->name;
        made->started = runText(*run, started_column);
        made->runs.append(run);
        const auto row = static_cast<int>(experiments_.size());
        beginInsertRows({}, row, row);
        experiments_.push_back(std::move(made));
        endInsertRows();
    } else {
        const auto row = static_cast<int>((*found)->runs.size());
        beginInsertRows(createIndex(static_cast<int>(found - experiments_.begin()), 0), row, row);
        (*found)->runs.append(run);
        endInsertRows();
    }
    connect(run, &RunWatcher::labelsChanged, this, [this, run] {
        if (keyOf(*run) == keys_.value(run->name())) return;
        take(run->name());
        place(run);
        group_timer_.start();
    });
}

/// Takes a run out of its experiment, which goes with its last one.
void RunsModel::take(const QString& name) {
    const QModelIndex at = indexOf(name);
    if (!at.isValid()) return;
    const int row = at.parent().row();
    Experiment& experiment = *experiments_[static_cast<std::size_t>(row)];
    disconnect(experiment.runs[at.row()], &RunWatcher::labelsChanged, this, nullptr);
    keys_.remove(name);
    if (experiment.runs.size() == 1) {
        beginRemoveRows({}, row, row);
        experiments_.erase(experiments_.begin() + row);
        endRemoveRows();
    } else {
        beginRemoveRows(at.parent(), at.row(), at.row());
        experiment.runs.removeAt(at.row());
        endRemoveRows();
    }
}

/// Labels name the fields by which the groups of an experiment differ, so every new run may change all.
void RunsModel::nameGroups() {
    groups_.clear();
    labels_.clear();
    places_.clear();
    for (const auto& experiment : experiments_) {
        std::vector<RunRecord> records;
        for (const RunWatcher* run : experiment->runs)
            if (auto record = recordOf(*run)) records.push_back(std::move(*record));
        GroupPlace place;
        std::map<std::string, int> of_method;
        for (const RunGroup& group : groupRuns(records)) {
            place.of_method = of_method[group.specification.model.position]++;
            QHash<QString, int> repeated;
            for (const std::size_t i : group.runs) {
                const QString run = QString::fromStdString(records[i].name);
                groups_[run] = QString::fromStdString(group.label);
                places_[run] = place;
                labels_[run] = groups_[run] + ", " + seedText(records[i].specification);
                if (const int times = ++repeated[labels_[run]]; times > 1)
                    labels_[run] += QStringLiteral(" (%1)").arg(times);
            }
            ++place.group;
        }
    }
    nameExperiments();
    refresh();
    emit groupsChanged();
}

/// Titles name what tells the experiments apart, so every new one may change all.
void RunsModel::nameExperiments() {
    std::vector<Specification> specifications;
    std::vector<Experiment*> named;
    for (const auto& experiment : experiments_) {
        const RunWatcher& first = *experiment->runs.front();
        experiment->title = experiment->name;
        experiment->started = runText(first, started_column);
        if (!first.specification()) continue;
        const QString whole = QString::fromStdString(settingsTitle(*first.specification()));
        if (isGivenName(*first.specification(), experiment->name.toStdString())) continue;
        // Behind the title stands when it was started.
        if (experiment->name != whole) experiment->started = experiment->name.mid(whole.size() + 2);
        specifications.push_back(*first.specification());
        named.push_back(experiment.get());
    }
    const std::vector<std::string> titles = distinguishingTitles(specifications);
    for (std::size_t i = 0; i < named.size(); ++i)
        named[i]->title = QString::fromStdString(titles[i]);
    QStringList all;
    for (const auto& experiment : experiments_)
        all << experiment->title;
    common_prefix_ = commonPrefixLength(all);
}

QModelIndex RunsModel::index(int row, int column, const QModelIndex& parent) const {
    if (row < 0 || column < 0 || column >= column_count || row >= rowCount(parent)) return {};
    if (!parent.isValid()) return createIndex(row, column);
    return createIndex(row, column, experiments_[static_cast<std::size_t>(parent.row())].get());
}

QModelIndex RunsModel::parent(const QModelIndex& index) const {
    const auto* experiment = static_cast<const Experiment*>(index.constInternalPointer());
    return experiment == nullptr ? QModelIndex() : createIndex(rowOf(*experiment), 0);
}

int RunsModel::rowOf(const Experiment& experiment) const {
    const auto at = std::find_if(experiments_.begin(), experiments_.end(),
                                 [&](const auto& each) { return each.get() == &experiment; });
    return static_cast<int>(at - experiments_.begin());
}

/// The experiment of a row of experiments; null for a run.
const RunsModel::Experiment* RunsModel::experimentAt(const QModelIndex& index) const {
    const bool is_experiment = index.isValid() && index.constInternalPointer() == nullptr;
    return is_experiment ? experiments_[static_cast<std::size_t>(index.row())].get() : nullptr;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid()) return static_cast<int>(experiments_.size());
    const Experiment* experiment = parent.column() == 0 ? experimentAt(parent) : nullptr;
    return experiment == nullptr ? 0 : static_cast<int>(experiment->runs.size());
}

int RunsModel::columnCount(const QModelIndex&) const {
    return column_count;
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    if (experimentAt(index) != nullptr && index.column() == name_column) flags |= Qt::ItemIsUserCheckable;
    return flags;
}

RunWatcher* RunsModel::run(const QModelIndex& index) const {
    const auto* experiment = static_cast<const Experiment*>(index.constInternalPointer());
    return experiment == nullptr ? nullptr : experiment->runs.value(index.row());
}

QList<RunWatcher*> RunsModel::runsOf(const QModelIndex& index) const {
    if (RunWatcher* one = run(index)) return {one};
    const Experiment* experiment = experimentAt(index);
    return experiment == nullptr ? QList<RunWatcher*>() : experiment->runs;
}

QModelIndex RunsModel::indexOf(const QString& run) const {
    for (std::size_t i = 0; i < experiments_.size(); ++i)
        for (int row = 0; row < experiments_[i]->runs.size(); ++row)
            if (experiments_[i]->runs[row]->name() == run) return createIndex(row, 0, experiments_[i].get());
    return {};
}

QString RunsModel::experimentNameOf(const QString& run) const {
    const QModelIndex at = indexOf(run);
    return at.isValid() ? experimentAt(at.parent())->name : QString();
}

QString RunsModel::experimentTitleOf(const QString& run) const {
    const QModelIndex at = indexOf(run);
    if (!at.isValid()) return {};
    const Experiment& experiment = *experimentAt(at.parent());
    const auto same = std::count_if(experiments_.begin(), experiments_.end(),
                                    [&](const auto& other) { return other->title == experiment.title; });
    return same == 1 ? experiment.title : experiment.title + QStringLiteral(", ") + experiment.started;
}

void RunsModel::setColor(const QString& name, const QColor& color) {
    QColor& known = colors_[name];
    if (known == color) return;
    known = color;
    if (!refresh_timer_.isActive()) refresh_timer_.start();
}

void RunsModel::setLetters(const QHash<QString, QString>& letters) {
    if (letters == letters_) return;
    letters_ = letters;
    refresh();
}

/// "A B  ", each once, before its title; empty where it has none.
QString RunsModel::lettersOf(const Experiment& experiment) const {
    QStringList letters;
    for (const RunWatcher* run : experiment.runs)
        if (const QString letter = letters_.value(run->name());
            !letter.isEmpty() && !letters.contains(letter))
            letters << letter;
    std::sort(letters.begin(), letters.end(), CurveLetters::isBefore);
    return CurveLetters::labelled(letters.join(' '), {});
}

void RunsModel::refresh() {
    if (experiments_.empty()) return;
    emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
    for (int row = 0; row < rowCount(); ++row) {
        const QModelIndex experiment = index(row, 0);
        emit dataChanged(index(0, 0, experiment),
                         index(rowCount(experiment) - 1, column_count - 1, experiment));
    }
}

QString RunsModel::runText(const RunWatcher& run, int column) const {
    switch (column) {
        case name_column:
            return CurveLetters::labelled(letters_.value(run.name()), labelOf(run.name()));
        case state_column:
            return stateText(run);
        case step_column:
            return QStringLiteral("%1/%2").arg(run.step()).arg(run.steps());
        case rate_column: {
            const double rate = run.stepsPerSecond();
            return run.state() == RunState::running && rate > 0
                       ? QString::number(rate, 'f', rate < 10 ? 2 : 1) + "/s"
                       : QString();
        }
        case left_column: {
            const auto seconds = run.secondsLeft();
            return seconds ? shortDuration(*seconds) : QString();
        }
        case loss_column:
            return run.metrics().empty() ? QString() : QString::number(run.metrics().back().loss, 'f', 4);
        case last_column:
            return evaluationCell(lastEvaluation(run));
        case best_column:
            return evaluationCell(bestOf(run.evaluations()));
        case started_column:
            return QDateTime::fromSecsSinceEpoch(static_cast<qint64>(run.madeAt_s()))
                .toString(QStringLiteral("yyyy-MM-dd HH:mm"));
        case tags_column: {
            QStringList tags;
            for (const std::string& tag : run.labels().tags)
                tags << QString::fromStdString(tag);
            return tags.join(' ');
        }
        case folder_column:
            return run.name();
        case host_column:
            return QString::fromStdString(run.status().host);
        default:
            return {};
    }
}

QString RunsModel::experimentText(const Experiment& experiment, int column) const {
    const QString this_year = QString::number(QDate::currentDate().year()) + '-';
    switch (column) {
        case name_column:
            return lettersOf(experiment) +
                   tr("%1\n%2 · %3")
                       .arg(experiment.title, counted(static_cast<int>(experiment.runs.size()), tr("run")),
                            experiment.started.mid(experiment.started.startsWith(this_year) ? this_year.size()
                                                                                            : 0));
        case state_column: {
            std::map<QString, int> states;
            for (const RunWatcher* run : experiment.runs)
                ++states[stateText(*run)];
            if (states.size() == 1) return states.begin()->first;
            for (const char* first : {"running", "failed", "interrupted"})
                if (const auto found = states.find(first); found != states.end())
                    return tr("%1 %2").arg(found->second).arg(found->first);
            return tr("%1 of %2 done").arg(states["finished"]).arg(experiment.runs.size());
        }
        case step_column: {
            std::int64_t done = 0, all = 0;
            for (const RunWatcher* run : experiment.runs)
                done += run->step(), all += run->steps();
            return all > 0 ? QStringLiteral("%1 %").arg(100 * done / all) : QString();
        }
        case left_column: {
            double longest = 0;
            for (const RunWatcher* run : experiment.runs)
                longest = std::max(longest, run->secondsLeft().value_or(0));
            return longest > 0 ? shortDuration(longest) : QString();
        }
        case best_column:
            return runText(**std::max_element(experiment.runs.begin(), experiment.runs.end(),
                                              [&](const RunWatcher* a, const RunWatcher* b) {
                                                  return runSortValue(*a, column).toDouble() <
                                                         runSortValue(*b, column).toDouble();
                                              }),
                           column);
        case started_column:
            return runText(*experiment.runs.front(), column);
        default:
            return {};
    }
}

QVariant RunsModel::runSortValue(const RunWatcher& run, int column) const {
    switch (column) {
        case step_column:
            return static_cast<qlonglong>(run.step());
        case rate_column:
            return run.stepsPerSecond();
        case left_column:
            return run.secondsLeft().value_or(kInfinity);
        case loss_column:
            return run.metrics().empty() ? kInfinity : run.metrics().back().loss;
        case last_column:
            return evaluationValue(lastEvaluation(run));
        case best_column:
            return evaluationValue(bestOf(run.evaluations()));
        case started_column:
            return run.madeAt_s();
        default:
            return runText(run, column);
    }
}

/// What an experiment is sorted by: the newest, the least loss, the best evaluation of its runs.
QVariant RunsModel::experimentSortValue(const Experiment& experiment, int column) const {
    if (column == state_column || column >= tags_column) return experimentText(experiment, column);
    const int by = column == name_column ? started_column : column;
    const bool least = by == loss_column || by == left_column;
    double value = least ? kInfinity : -kInfinity;
    for (const RunWatcher* run : experiment.runs) {
        const double one = runSortValue(*run, by).toDouble();
        value = least ? std::min(value, one) : std::max(value, one);
    }
    return value;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    constexpr int kRowHeight = 24, kTwoLines = 40;
    if (!index.isValid()) return {};
    if (role == Qt::SizeHintRole && index.column() == name_column)
        return QSize(0, zoomed(experimentAt(index) != nullptr ? kTwoLines : kRowHeight));
    if (role == Qt::TextAlignmentRole && index.column() >= step_column && index.column() <= left_column)
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (const Experiment* experiment = experimentAt(index)) {
        if (role == Qt::DisplayRole) return experimentText(*experiment, index.column());
        if (role == kTitleRole) return experiment->title;
        if (role == kSortRole) return experimentSortValue(*experiment, index.column());
        if (role == Qt::CheckStateRole && index.column() == name_column)
            return ticked_.contains(experiment->key) ? Qt::Checked : Qt::Unchecked;
        if (role == Qt::ToolTipRole)
            return plainToolTip(
                tr("%1: %2. Ticked: it stays in the charts when another is chosen.")
                    .arg(experiment->name, counted(static_cast<int>(experiment->runs.size()), tr("run"))));
        return {};
    }
    const RunWatcher* watcher = run(index);
    if (watcher == nullptr) return {};
    if (role == Qt::DisplayRole) return runText(*watcher, index.column());
    if (role == kSortRole) return runSortValue(*watcher, index.column());
    if (role == Qt::DecorationRole && index.column() == name_column)
        return swatch(colors_.value(watcher->name()));
    if (role == Qt::ToolTipRole) {
        if (const QString notice = noticeOf(*watcher); !notice.isEmpty()) return plainToolTip(notice);
        const QString note = QString::fromStdString(watcher->labels().note);
        QStringList lines{QString::fromStdString(watcher->folder().path().string())};
        if (!note.isEmpty()) lines << note;
        for (const Computation& computation : watcher->computations())
            lines << tr("computed by: %1").arg(QString::fromStdString(textOf(computation)));
        return plainToolTip(lines.join('\n'));
    }
    return {};
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const Experiment* experiment = experimentAt(index);
    if (role != Qt::CheckStateRole || experiment == nullptr) return false;
    setTicked({experiment->runs.front()}, value.toInt() == Qt::Checked);
    return true;
}

void RunsModel::setTicked(const std::vector<RunWatcher*>& runs, bool ticked) {
    for (const RunWatcher* run : runs) {
        if (ticked)
            ticked_.insert(experimentKeyOf(run->name()));
        else
            ticked_.remove(experimentKeyOf(run->name()));
    }
    announceTicked();
}

void RunsModel::untickAll() {
    if (ticked_.isEmpty()) return;
    ticked_.clear();
    announceTicked();
}

void RunsModel::announceTicked() {
    if (experiments_.empty()) return;
    emit dataChanged(index(0, 0), index(rowCount() - 1, 0), {Qt::CheckStateRole});
    emit tickedChanged();
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    struct Heading {
        QString name, help;
    };
    static const QList<Heading> headings = {
        {tr("Run"), tr("Experiments, and in each its runs: method, what else differs, seed")},
        {tr("State"), tr("What its trainer does now")},
        {tr("Step"), tr("Optimizer steps done, of all")},
        {tr("Loss"), tr("Training loss of the last step, nats")},
        {tr("Last"), tr("Newest evaluation: problems solved, or loss")},
        {tr("Best"), tr("Best evaluation so far")},
        {tr("Rate"), tr("Optimizer steps per second")},
        {tr("Left"), tr("Time until the last step at this rate")},
        {tr("Started"), tr("When the run was made")},
        {tr("Tags"), tr("Words that you gave it")},
        {tr("Folder"), tr("Name of the run's folder")},
        {tr("Machine"), tr("Where it was trained last")}};
    if (role == Qt::DisplayRole) return headings.value(section).name;
    if (role == Qt::ToolTipRole) return headings.value(section).help;
    // What one looks for first: the best, the newest, the farthest.
    const bool most_first = section == step_column || section == last_column || section == best_column ||
                            section == rate_column || section == started_column;
    if (role == Qt::InitialSortOrderRole && most_first) return Qt::DescendingOrder;
    return {};
}

}  // namespace roper
