#include <QDateTime>
#include <algorithm>
#include <limits>

#include "core/base/text.h"
#include "ui/charts/curve_letters.h"
#include "ui/live/run_texts.h"
#include "ui/pages/training/runs_model.h"
#include "ui/theme/numbers.h"
#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

// Texts and sort values of the cells of a RunsModel.

namespace roper {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<EvaluationRow> lastEvaluation(const RunWatcher& run) {
    if (run.evaluations().empty()) return std::nullopt;
    return run.evaluations().back();
}

/// Sort value of an evaluation: the larger, the better.
double evaluationValue(const std::optional<EvaluationRow>& row) {
    if (!row) return -kInfinity;
    return row->correct ? static_cast<double>(*row->correct) : -row->loss.value_or(0);
}

QString stateText(const RunWatcher& run) {
    if (run.isSuspended()) return RunsModel::tr("suspended");
    return run.isBroken() ? RunsModel::tr("broken") : QString::fromStdString(stateName(run.state()));
}

/// Problems solved ("112/128") or, without problems, the loss ("0.6312"); empty before the first evaluation.
QString evaluationCell(const std::optional<EvaluationRow>& row) {
    if (!row) return {};
    if (row->correct) return QStringLiteral("%1/%2").arg(*row->correct).arg(row->total.value_or(0));
    return row->loss ? QString::number(*row->loss, 'f', 4) : QString();
}

}  // namespace

QString RunsModel::runText(const RunWatcher& run, int column) const {
    switch (column) {
        case name_column:
            return CurveLetters::labeled(letters_.value(run.name()), labelOf(run.name()));
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
        case time_left_column: {
            const auto seconds = run.remainingSeconds();
            return seconds ? shortDuration(*seconds) : QString();
        }
        case loss_column:
            return run.metrics().empty() ? QString() : QString::number(run.metrics().back().loss, 'f', 4);
        case last_evaluation_column:
            return evaluationCell(lastEvaluation(run));
        case best_evaluation_column:
            return evaluationCell(bestOf(run.evaluations()));
        case started_column:
            return QDateTime::fromSecsSinceEpoch(static_cast<qint64>(run.createdAt_s()))
                .toString(QStringLiteral("yyyy-MM-dd HH:mm"));
        case tags_column:
            return QString::fromStdString(join(run.labels().tags, " "));
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
                       .arg(experiment.title, countText(static_cast<int>(experiment.runs.size()), tr("run")),
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
        case time_left_column: {
            double longest = 0;
            for (const RunWatcher* run : experiment.runs)
                longest = std::max(longest, run->remainingSeconds().value_or(0));
            return longest > 0 ? shortDuration(longest) : QString();
        }
        case best_evaluation_column:
            return runText(**std::ranges::max_element(
                               experiment.runs, {},
                               [&](const RunWatcher* run) { return runSortValue(*run, column).toDouble(); }),
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
        case time_left_column:
            return run.remainingSeconds().value_or(kInfinity);
        case loss_column:
            return run.metrics().empty() ? kInfinity : run.metrics().back().loss;
        case last_evaluation_column:
            return evaluationValue(lastEvaluation(run));
        case best_evaluation_column:
            return evaluationValue(bestOf(run.evaluations()));
        case started_column:
            return run.createdAt_s();
        default:
            return runText(run, column);
    }
}

/// Sort value of an experiment: the smallest loss or time left of its runs, otherwise their largest value; in
/// the name column, the newest start.
QVariant RunsModel::experimentSortValue(const Experiment& experiment, int column) const {
    if (column == state_column || column >= tags_column) return experimentText(experiment, column);
    const int by = column == name_column ? started_column : column;
    const bool least = by == loss_column || by == time_left_column;
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
    if (role == Qt::TextAlignmentRole && index.column() >= step_column && index.column() <= time_left_column)
        return int(Qt::AlignRight | Qt::AlignVCenter);
    if (const Experiment* experiment = experimentAt(index)) {
        if (role == Qt::DisplayRole) return experimentText(*experiment, index.column());
        if (role == kTitleRole) return experiment->title;
        if (role == kSortRole) return experimentSortValue(*experiment, index.column());
        if (role == Qt::CheckStateRole && index.column() == name_column)
            return ticked_.contains(experiment->key) ? Qt::Checked : Qt::Unchecked;
        if (role == Qt::ToolTipRole)
            return tr("%1: %2. Ticked: it stays in the charts when another is selected.")
                .arg(experiment->name, countText(static_cast<int>(experiment->runs.size()), tr("run")));
        return {};
    }
    const RunWatcher* watcher = run(index);
    if (watcher == nullptr) return {};
    if (role == Qt::DisplayRole) return runText(*watcher, index.column());
    if (role == kSortRole) return runSortValue(*watcher, index.column());
    if (role == Qt::DecorationRole && index.column() == name_column)
        return swatch(colors_.value(watcher->name()));
    if (role == Qt::ToolTipRole) {
        if (const QString notice = noticeOf(*watcher); !notice.isEmpty()) return notice;
        const QString note = QString::fromStdString(watcher->labels().note);
        QStringList lines{QString::fromStdString(watcher->folder().path().string())};
        if (!note.isEmpty()) lines << note;
        for (const ComputeEnvironment& computation : watcher->computations())
            lines << tr("computed by: %1").arg(QString::fromStdString(textOf(computation)));
        return lines.join('\n');
    }
    return {};
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    struct Heading {
        QString name, help;
    };
    static const QList<Heading> headings = {
        {tr("Run"), tr("Experiments and their runs: method, other differences, seed")},
        {tr("State"), tr("What its trainer is doing now")},
        {tr("Step"), tr("Optimizer steps done, out of all")},
        {tr("Loss"), tr("Training loss of the last step, nats")},
        {tr("Last"), tr("Newest evaluation: problems solved, or loss")},
        {tr("Best"), tr("Best evaluation so far")},
        {tr("Rate"), tr("Optimizer steps per second")},
        {tr("Left"), tr("Time until the last step at this rate")},
        {tr("Started"), tr("When the run was created")},
        {tr("Tags"), tr("Words that you assigned to it")},
        {tr("Folder"), tr("Name of the run's folder")},
        {tr("Machine"), tr("Where it was last trained")}};
    if (role == Qt::DisplayRole) return headings.value(section).name;
    if (role == Qt::ToolTipRole) return headings.value(section).help;
    // Descending order puts the best, newest and most advanced runs first.
    const bool most_first = section == step_column || section == last_evaluation_column ||
                            section == best_evaluation_column || section == rate_column ||
                            section == started_column;
    if (role == Qt::InitialSortOrderRole && most_first) return Qt::DescendingOrder;
    return {};
}

}  // namespace roper
