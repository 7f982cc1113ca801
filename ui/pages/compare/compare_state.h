#pragma once

#include <QColor>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <optional>

#include "core/compare/board.h"
#include "core/compare/curves.h"
#include "core/compare/expected_time.h"
#include "core/compare/follow_up.h"
#include "core/compare/outcome_table.h"
#include "core/compare/run_filter.h"
#include "ui/live/run_store.h"

namespace roper {

/// What a person asks of the runs on the Compare page.
struct CompareQuestion {
    QString filter;
    Measure measure = Measure::final_correct;
    bool measure_chosen = false;  ///< otherwise the one that suits the two groups
    int share = 90;               ///< % solved, for `steps_until`
    std::string a, b;             ///< keys of the groups that are paired; empty: those that fit best
    QSet<QString> hidden;         ///< keys of groups that are not shown
    Quantity curve = Quantity::correct;
    bool curve_chosen = false;
    XAxis across = XAxis::step;
    Spread spread = Spread::range;
    bool drop_worst = false;
    bool final_half = false;
    bool each_run = false;
};

/// A group with what the page shows of it.
struct ComparedGroup {
    RunGroup group;
    QColor color;
    bool shown = true;
    QStringList all;  ///< runs of the group
    /// Runs of the group, each seed once as in pairs (`runsThatCount`), the worst dropped if that is asked
    /// for.
    QStringList members;
    qsizetype left_out = 0;      ///< runs that do not count: their seed again, or another precision
    std::vector<double> values;  ///< known outcomes of the members
    QStringList names;           ///< of the runs that have them
    Summary summary;
    std::optional<Interval> interval;        ///< of the mean at 95 %, as far as such values are possible
    QStringList unfinished, never, missing;  ///< members without one

    QString key() const { return QString::fromStdString(group.key); }
    QString label() const { return QString::fromStdString(group.label); }
};

/// The answers: recomputed when runs or the question change, at most a few times a second. Nothing here
/// refers to a run's rows, so it stays as it is while runs train.
class CompareState : public QObject {
    Q_OBJECT

  public:
    CompareState(RunStore& store, QObject* parent);

    const CompareQuestion& question() const { return question_; }
    void change(const std::function<void(CompareQuestion&)>& change);

    const std::vector<ComparedGroup>& groups() const { return groups_; }
    const std::optional<PairedComparison>& comparison() const { return comparison_; }
    /// What would take that comparison further, and how long each would take on this machine.
    struct NextRuns {
        FollowUp follow_up;
        ExpectedTime time;
    };
    const std::vector<NextRuns>& nextRuns() const { return next_runs_; }
    /// Colours of the two groups that are paired.
    QColor colorA() const { return color_a_; }
    QColor colorB() const { return color_b_; }
    const QString& filterProblem() const { return filter_problem_; }
    /// Runs whose folders cannot be read; they are in no group.
    std::size_t brokenRuns() const { return broken_; }
    RunStore& store() { return store_; }

    /// Computed when asked for, since they read every row: only what is seen need ask.
    Band band(const ComparedGroup& group) const;
    std::vector<std::pair<double, double>> curve(const QString& run) const;
    std::vector<BoardRow> board() const;
    /// How long runs would take here, as the question before they are queued says it.
    ExpectedTime expectedTime(const std::vector<Specification>& runs) const;
    /// Of the two groups that are compared; empty without two.
    std::vector<OutcomeRow> outcomeTable() const;

    /// Recomputes now; tests and pictures need not wait.
    void refresh();

    /// While nobody looks, runs may change as they like: nothing is recomputed.
    void setSeen(bool seen);

  signals:
    void changed();

  private:
    std::vector<RunRecord> chosenRecords() const;
    void fillGroup(ComparedGroup& group, const std::vector<RunRecord>& runs) const;
    void choosePair(const std::vector<RunRecord>& runs);
    void compare(const std::vector<RunRecord>& runs);
    std::size_t partnerOf(std::size_t one, const std::vector<RunRecord>& runs) const;

    RunStore& store_;
    CompareQuestion question_;
    RunFilter filter_;
    QString filter_problem_;
    std::size_t broken_ = 0;
    std::vector<ComparedGroup> groups_;
    std::optional<std::pair<std::size_t, std::size_t>> pair_;  ///< places of the two groups
    std::optional<PairedComparison> comparison_;
    std::vector<NextRuns> next_runs_;
    QColor color_a_, color_b_;
    QTimer timer_;
    bool seen_ = false, stale_ = false;
};

/// Names of the choices, for controls and captions.
QString spreadTitle(Spread spread);
QString acrossTitle(XAxis across);
QString measureTitle(const CompareQuestion& question);

}  // namespace roper
