#include "ui/pages/training/runs_model.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/compare/experiment.h"
#include "core/compare/grouping.h"
#include "ui/charts/curve_letters.h"
#include "ui/live/run_store.h"
#include "ui/theme/elided_label.h"

namespace roper {
namespace {

/// Key of a run's experiment; empty for all runs with unreadable specifications.
QString keyOf(const RunWatcher& run) {
    if (!run.specification()) return {};
    return QString::fromStdString(experimentKey(*run.specification(), run.labels().experiment));
}

/// The seed as text: "seed 3".
QString seedLabel(const Specification& specification) {
    const std::string seeds = seedText(specification);
    return seeds.empty() ? RunsModel::tr("seed unknown") : QString::fromStdString(seeds);
}

}  // namespace

RunsModel::RunsModel(RunStore& store, QObject* parent) : QAbstractItemModel(parent), store_(store) {
    connect(&store_, &RunStore::runAdded, this, [this](RunWatcher* run) {
        place(run);
        group_timer_.start();
    });
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        removeRun(name);
        colors_.remove(name);
        group_timer_.start();
    });
    // Rows change many times a second, but updating the table a few times a second suffices.
    constexpr int kRefreshInterval_ms = 150, kGroupingInterval_ms = 300;
    for (auto [timer, interval] :
         {std::pair{&refresh_timer_, kRefreshInterval_ms}, {&group_timer_, kGroupingInterval_ms}}) {
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

/// Adds a run to its experiment, which is created if necessary.
void RunsModel::place(RunWatcher* run) {
    const QString key = keyOf(*run);
    const auto found =
        std::ranges::find_if(experiments_, [&](const auto& experiment) { return experiment->key == key; });
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
        removeRun(run->name());
        place(run);
        group_timer_.start();
    });
}

/// Removes a run from its experiment, which is removed with its last run.
void RunsModel::removeRun(const QString& name) {
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

/// Labels name the fields in which the groups of an experiment differ, so a new run may change all of them.
void RunsModel::nameGroups() {
    listed_.clear();
    for (const auto& experiment : experiments_) {
        const std::vector<RunRecord> records = recordsOf(experiment->runs);
        GroupIndex index;
        std::map<std::string, int> of_method;
        for (const RunGroup& group : groupRuns(records)) {
            index.of_method = of_method[group.specification.methodName()]++;
            QHash<QString, int> repeated;
            for (const std::size_t i : group.runs) {
                const QString label = QString::fromStdString(group.label);
                Listed& listed = listed_[QString::fromStdString(records[i].name)];
                listed = {label, label + ", " + seedLabel(records[i].specification), index};
                if (const int times = ++repeated[listed.label]; times > 1)
                    listed.label += QStringLiteral(" (%1)").arg(times);
            }
            ++index.group;
        }
    }
    nameExperiments();
    refresh();
    emit groupsChanged();
}

/// Titles name the differences between experiments, so a new one may change all of them.
void RunsModel::nameExperiments() {
    std::vector<Specification> specifications;
    std::vector<Experiment*> named;
    for (const auto& experiment : experiments_) {
        const RunWatcher& first = *experiment->runs.front();
        experiment->title = experiment->name;
        experiment->started = runText(first, started_column);
        if (!first.specification()) continue;
        const QString whole = QString::fromStdString(settingsTitle(*first.specification()));
        if (isUserGivenName(*first.specification(), experiment->name.toStdString())) continue;
        // A generated name consists of the title, ", " and the start time.
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
    if (experiment == nullptr) return {};
    const auto at =
        std::ranges::find_if(experiments_, [&](const auto& each) { return each.get() == experiment; });
    return createIndex(static_cast<int>(at - experiments_.begin()), 0);
}

/// The experiment in a top-level row; null for a run.
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
    const auto same = std::ranges::count_if(
        experiments_, [&](const auto& other) { return other->title == experiment.title; });
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

/// "A B  ", each letter once, in front of the title; empty if there are none.
QString RunsModel::lettersOf(const Experiment& experiment) const {
    QStringList letters;
    for (const RunWatcher* run : experiment.runs)
        if (const QString letter = letters_.value(run->name());
            !letter.isEmpty() && !letters.contains(letter))
            letters << letter;
    std::ranges::sort(letters, CurveLetters::isBefore);
    return CurveLetters::labeled(letters.join(' '), {});
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
    emitTickedChanged();
}

void RunsModel::untickAll() {
    if (ticked_.isEmpty()) return;
    ticked_.clear();
    emitTickedChanged();
}

void RunsModel::emitTickedChanged() {
    if (experiments_.empty()) return;
    emit dataChanged(index(0, 0), index(rowCount() - 1, 0), {Qt::CheckStateRole});
    emit tickedChanged();
}

RunFilterModel::RunFilterModel(RunsModel& runs, QObject* parent)
    : QSortFilterProxyModel(parent), runs_(runs) {
    setSourceModel(&runs);
    setSortRole(RunsModel::kSortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
    setDynamicSortFilter(true);
    setRecursiveFilteringEnabled(true);
}

QString RunFilterModel::setFilter(const QString& text) {
    try {
        filter_ = RunFilter(text.toStdString());
        text_ = text.trimmed();
        invalidateFilter();
        return {};
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    }
}

/// An experiment is accepted if one of its runs is.
bool RunFilterModel::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (text_.isEmpty()) return true;
    const RunWatcher* run = runs_.run(runs_.index(row, 0, parent));
    if (run == nullptr) return false;
    const auto record = recordOf(*run);
    // A run that cannot be read has no settings to compare; it is found by its name, so it never disappears.
    return record ? filter_.matches(*record) : run->name().contains(text_, Qt::CaseInsensitive);
}

/// In descending order of the name column, the newest experiment comes first. In either order, runs of an
/// experiment are sorted by group and seed, both ascending.
bool RunFilterModel::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const RunWatcher *a = runs_.run(left), *b = runs_.run(right);
    if (left.column() != RunsModel::name_column || a == nullptr || b == nullptr)
        return QSortFilterProxyModel::lessThan(left, right);
    const auto sortKeyOf = [this](const RunWatcher& run) {
        const auto seed = run.specification() ? run.specification()->training.data_seed : 0;
        return std::tuple(runs_.groupOf(run.name()), seed, run.name());
    };
    return (sortKeyOf(*a) < sortKeyOf(*b)) == (sortOrder() == Qt::AscendingOrder);
}

}  // namespace roper
