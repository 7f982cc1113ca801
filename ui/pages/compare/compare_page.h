#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTreeWidget>
#include <functional>
#include <set>
#include <vector>

#include "ui/charts/curve_chart.h"
#include "ui/page/page.h"
#include "ui/pages/compare/board_view.h"
#include "ui/pages/compare/compare_state.h"
#include "ui/pages/compare/length_tab.h"
#include "ui/pages/compare/outcome_table_view.h"
#include "ui/pages/compare/outcome_view.h"
#include "ui/pages/compare/paired_view.h"
#include "ui/pages/compare/trainer_processes.h"

namespace roper {

/// Page 6: groups of runs next to each other, their differences by seed with the conclusion, and the RoPER
/// note's table.
class ComparePage : public Page {
    Q_OBJECT

  public:
    ComparePage(RunStore& store, QWidget* parent);

    void refreshHiddenTabs() override;
    void addActions(Actions& actions) override;
    QString explanation() const override;

    CompareState& state() { return *state_; }
    CurveChart& curves() { return *curves_; }
    BoardView& board() { return *board_; }
    LengthTab& lengths() { return *lengths_; }
    QLabel& conclusion() { return *conclusion_; }
    QLabel& headline() { return *headline_; }
    enum class Tab { curves, run_by_run, seed_by_seed, all_outcomes, board, lengths };
    void showTab(Tab tab) { tabs_->setCurrentIndex(static_cast<int>(tab)); }
    Tab tab() const { return static_cast<Tab>(tabs_->currentIndex()); }
    OutcomeTableView& outcomeTable() { return *all_outcomes_; }
    /// Shows only the runs that match these words.
    void setFilter(const QString& text) { filter_->setText(text); }
    /// Shows only the groups of these runs, and compares the first two of them.
    void showOnly(const QStringList& runs);
  signals:
    /// Emitted when runs should be queued.
    void runsRequested(const std::vector<roper::Specification>& specifications);
    /// Emitted when a run should be inspected.
    void inspectRequested(const QString& run);

  protected:
    void refresh() override;
    void onVisibilityChanged(bool seen) override { state_->setPageVisible(seen); }

  private:
    Figure& prepareFigure(FigureRequest request) override;
    static constexpr int kKeyRole = Qt::UserRole;  ///< key of a group, in lists of groups

    QWidget* makeChooser();
    QWidget* makeCurvesTab();
    QWidget* makeBoardTab();
    QWidget* makeMeasureBar();
    void importFile();
    void importFolder();
    /// @param path  empty if none was chosen
    void importFrom(const QString& path);
    void showGroups();
    void showOnlyGroups(const QSet<QString>& keys);
    void openGroupMenu(const QPoint& at);
    void nameGroups();
    QStringList letters() const;
    void showPairChoices();
    void showCurves();
    std::vector<CurveChart::Curve> curvesOfGroups(std::set<int>& counts) const;
    void appendRuns(const ComparedGroup& group, std::vector<CurveChart::Curve>& curves) const;
    void showBoard();
    QWidget* makeNextSteps();
    void showNextSteps();
    QComboBox* makeChoice(const QString& name, const QString& help, const QStringList& choices,
                          const std::function<void(CompareSettings&, int)>& set);
    // Controls of a setting, which also show it.
    /// @param chosen  set when the user chooses, for a setting that otherwise follows from the task
    template <class Value>
    QComboBox* makeChoice(const QString& name, const QString& help, const QStringList& choices,
                          Value CompareSettings::*member, bool CompareSettings::*chosen = nullptr);
    QCheckBox* makeCheck(const QString& text, const QString& help, bool CompareSettings::*member);

    RunStore& store_;
    CompareState* state_;
    SpeedMeasurement* speed_;
    QLineEdit* filter_;
    QLabel* filter_problem_;
    QTreeWidget* groups_;
    QComboBox *first_, *second_;
    QSpinBox* solved_percent_;
    QCheckBox *drop_worst_, *final_half_;
    std::vector<std::function<void(const CompareSettings&)>> show_functions_;  ///< of controls
    QTabWidget* tabs_;
    CurveChart* curves_;
    OutcomeView* outcomes_;
    PairedView* paired_;
    OutcomeTableView* all_outcomes_;
    BoardView* board_;
    LengthTab* lengths_;
    QLabel *headline_, *conclusion_, *board_summary_;
    QPushButton* copy_sentence_;
    QPushButton *queue_missing_, *measure_speed_;
    QPushButton *train_twins_, *train_pairs_, *inspect_first_, *inspect_second_;
    bool showing_ = false;
};

}  // namespace roper
