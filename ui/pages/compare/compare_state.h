#pragma once

#include <QColor>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <optional>
#include <vector>

#include "core/compare/board.h"
#include "core/compare/curves.h"
#include "core/compare/expected_time.h"
#include "core/compare/follow_up.h"
#include "core/compare/outcome_table.h"
#include "core/compare/run_filter.h"
#include "core/fields/field.h"
#include "ui/live/run_store.h"

namespace roper {

/// The settings of the Compare page.
struct CompareSettings {
    std::string filter;
    Measure measure = Measure::final_correct;
    bool measure_chosen = false;  ///< by the user; otherwise the measure follows from the two groups
    int share = 90;               ///< % of problems solved, for `steps_until`
    std::string a, b;             ///< keys of the paired groups; empty: the best match
    QSet<QString> hidden;         ///< keys of hidden groups
    Quantity curve = Quantity::correct;
    bool curve_chosen = false;  ///< by the user; otherwise the curve follows from the task
    XAxis across = XAxis::step;
    Spread spread = Spread::range;
    bool drop_worst = false;  ///< leave out each group's worst run, except from pairs
    bool final_half = false;  ///< show only the second half of the curves
    bool each_run = false;    ///< also draw a curve for every run
};

/// A group with its results.
struct ComparedGroup {
    RunGroup group;
    QColor color;
    bool shown = true;
    QStringList all;  ///< all runs of the group
    /// One run per seed, as in pairs (`oneRunPerSeed`); without the worst if that is requested.
    QStringList members;
    qsizetype excluded = 0;      ///< number of runs omitted: repeated seeds, or another precision
    std::vector<double> values;  ///< known outcomes of the members
    QStringList names;           ///< the run of each of these values
    Summary summary;
    std::optional<Interval> interval;              ///< of the mean at 95 %, limited to possible values
    QStringList unfinished, not_reached, missing;  ///< members without an outcome

    QString key() const { return QString::fromStdString(group.key); }
    QString label() const { return QString::fromStdString(group.label); }
};

/// The results on the Compare page: recomputed when runs or settings change, at most a few times a second.
/// They contain no references to rows of runs, so they stay valid while runs train.
class CompareState : public QObject {
    Q_OBJECT

  public:
    CompareState(RunStore& store, QObject* parent);

    const CompareSettings& question() const { return question_; }
    void change(const std::function<void(CompareSettings&)>& change);

    const std::vector<ComparedGroup>& groups() const { return groups_; }
    const std::optional<PairedComparison>& comparison() const { return comparison_; }
    /// Runs that would make the comparison more conclusive, and the time of each on this machine.
    struct SuggestedRuns {
        FollowUp follow_up;
        ExpectedTime time;
    };
    const std::vector<SuggestedRuns>& suggestedRuns() const { return suggested_runs_; }
    /// Colors of the two paired groups; invalid without a pair.
    QColor colorA() const { return pair_ ? groups_[pair_->first].color : QColor(); }
    QColor colorB() const { return pair_ ? groups_[pair_->second].color : QColor(); }
    const QString& filterProblem() const { return filter_problem_; }
    /// Number of runs whose folders cannot be read; they are in no group.
    std::size_t unreadableRuns() const { return unreadable_runs_; }
    RunStore& store() { return store_; }

    // Computed on request, because they read every row; request them only for visible figures.

    MeanCurve band(const ComparedGroup& group) const;
    std::vector<std::pair<double, double>> curve(const QString& run) const;
    std::vector<BoardRow> board() const;
    /// Expected time of runs on this machine, shown in the question before they are queued.
    ExpectedTime expectedTime(const std::vector<Specification>& runs) const;
    /// Outcomes of the two compared groups; empty without two groups.
    std::vector<OutcomeRow> outcomeTable() const;

    /// Recomputes now, without waiting for the timer; for tests and figures.
    void refresh();

    /// While the page is hidden nothing is recomputed.
    void setPageVisible(bool seen);

  signals:
    void changed();

  private:
    void fillGroup(ComparedGroup& group, const std::vector<RunRecord>& runs) const;
    void choosePair(const std::vector<RunRecord>& runs);
    void compare(const std::vector<RunRecord>& runs);
    std::size_t partnerOf(std::size_t one, const std::vector<RunRecord>& runs) const;

    RunStore& store_;
    CompareSettings question_;
    RunFilter filter_;
    QString filter_problem_;
    std::size_t unreadable_runs_ = 0;
    std::vector<ComparedGroup> groups_;
    std::optional<std::pair<std::size_t, std::size_t>> pair_;  ///< indices of the two groups
    std::optional<PairedComparison> comparison_;
    std::vector<SuggestedRuns> suggested_runs_;
    QTimer timer_;
    bool page_visible_ = false, stale_ = false;
};

/// Display names of the choices, for controls and captions.
QString spreadTitle(Spread spread);
QString xAxisTitle(XAxis across);
QString measureTitle(const CompareSettings& question);

/// The settings of a comparison, named as on the command line.
const std::vector<Field<CompareSettings>>& compareFields();

}  // namespace roper
