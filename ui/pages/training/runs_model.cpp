#include "ui/pages/training/runs_model.h"

#include <limits>

#include "core/compare/grouping.h"
#include "ui/live/run_notice.h"
#include "ui/live/run_records.h"
#include "ui/theme/numbers.h"
#include "ui/theme/plain_text.h"
#include "ui/theme/swatch.h"

namespace roper {
namespace {

std::optional<EvaluationRow> lastEvaluation(const RunWatcher& run) {
    if (run.evaluations().empty()) return std::nullopt;
    return run.evaluations().back();
}

double evaluationValue(const std::optional<EvaluationRow>& row) {
    if (!row) return -std::numeric_limits<double>::infinity();
    return row->correct ? static_cast<double>(*row->correct) : -row->loss.value_or(0);
}

}  // namespace

QString evaluationCell(const std::optional<EvaluationRow>& row) {
    if (!row) return {};
    if (row->correct) return QStringLiteral("%1/%2").arg(*row->correct).arg(row->of.value_or(0));
    return row->loss ? QString::number(*row->loss, 'f', 4) : QString();
}

RunsModel::RunsModel(RunStore& store, QObject* parent) : QAbstractTableModel(parent), store_(store) {
    connect(&store_, &RunStore::runAdded, this, [this](RunWatcher* run) {
        const auto row = static_cast<int>(rows_.size());
        beginInsertRows({}, row, row);
        rows_.append(run);
        endInsertRows();
        group_timer_.start();
    });
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        const int row = rowOf(name);
        if (row < 0) return;
        beginRemoveRows({}, row, row);
        rows_.removeAt(row);
        colors_.remove(name);
        endRemoveRows();
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
        rows_.append(run);
    nameGroups();
}

/// Labels name the fields by which groups differ, so every new run may change all of them.
void RunsModel::nameGroups() {
    groups_.clear();
    const std::vector<RunRecord> runs = recordsOf(store_);
    for (const RunGroup& group : groupRuns(runs))
        for (const std::size_t run : group.runs)
            groups_[QString::fromStdString(runs[run].name)] = QString::fromStdString(group.label);
    refresh();
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : column_count;
}

RunWatcher* RunsModel::run(int row) const {
    return row >= 0 && row < rows_.size() ? rows_[row] : nullptr;
}

int RunsModel::rowOf(const QString& name) const {
    for (int row = 0; row < rows_.size(); ++row)
        if (rows_[row]->name() == name) return row;
    return -1;
}

void RunsModel::setColor(const QString& name, const QColor& color) {
    colors_[name] = color;
    refresh();
}

void RunsModel::refresh() {
    if (!rows_.isEmpty()) emit dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
}

QVariant RunsModel::text(const RunWatcher& run, int column) const {
    switch (column) {
        case name_column:
            return run.name();
        case state_column:
            if (run.isSuspended()) return tr("suspended");
            return run.isBroken() ? tr("broken") : QString::fromStdString(stateName(run.state()));
        case group_column:
            return groups_.value(run.name());
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
        default:
            return {};
    }
}

QVariant RunsModel::sortValue(const RunWatcher& run, int column) const {
    switch (column) {
        case step_column:
            return static_cast<qlonglong>(run.step());
        case rate_column:
            return run.stepsPerSecond();
        case left_column:
            return run.secondsLeft().value_or(std::numeric_limits<double>::infinity());
        case loss_column:
            return run.metrics().empty() ? std::numeric_limits<double>::infinity()
                                         : run.metrics().back().loss;
        case last_column:
            return evaluationValue(lastEvaluation(run));
        case best_column:
            return evaluationValue(bestOf(run.evaluations()));
        default:
            return text(run, column);
    }
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    const RunWatcher* watcher = run(index.row());
    if (watcher == nullptr) return {};
    if (role == Qt::DisplayRole) return text(*watcher, index.column());
    if (role == kSortRole) return sortValue(*watcher, index.column());
    if (role == Qt::DecorationRole && index.column() == name_column)
        return swatch(colors_.value(watcher->name()));
    if (role == Qt::TextAlignmentRole && index.column() >= step_column)
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole) {
        if (const QString notice = noticeOf(*watcher); !notice.isEmpty()) return plainToolTip(notice);
        return QString::fromStdString(watcher->folder().path().string());
    }
    return {};
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    static const QStringList names = {tr("Run"),  tr("State"), tr("Group"), tr("Step"), tr("Loss"),
                                      tr("Last"), tr("Best"),  tr("Rate"),  tr("Left")};
    static const QStringList helps = {tr("Name of the run's folder"),
                                      tr("What its trainer does now"),
                                      tr("Method, and the settings by which groups of runs differ"),
                                      tr("Optimizer steps done, of all"),
                                      tr("Training loss of the last step, nats"),
                                      tr("Newest evaluation: problems solved, or loss"),
                                      tr("Best evaluation so far"),
                                      tr("Optimizer steps per second"),
                                      tr("Time until the last step at this rate")};
    if (role == Qt::DisplayRole) return names.value(section);
    if (role == Qt::ToolTipRole) return helps.value(section);
    return {};
}

}  // namespace roper
