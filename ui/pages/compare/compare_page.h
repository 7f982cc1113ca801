#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTreeWidget>

#include "ui/charts/curve_chart.h"
#include "ui/pages/compare/board_view.h"
#include "ui/pages/compare/compare_state.h"
#include "ui/pages/compare/length_tab.h"
#include "ui/pages/compare/outcome_view.h"
#include "ui/pages/compare/paired_view.h"
#include "ui/page/page.h"

namespace roper {

/// Page 6: groups of runs side by side, their difference by seed and what follows from it, and the source's
/// table.
class ComparePage : public Page {
    Q_OBJECT

  public:
    ComparePage(RunStore& store, QWidget* parent);

    std::vector<const Figure*> figures() const override;
    void addActions(Actions& actions) override;
    QString explanation() const override;
    ViewSettings viewSettings() const override;
    void setViewSettings(const ViewSettings& settings) override;

    CompareState& state() { return *state_; }
    CurveChart& curves() { return *curves_; }
    BoardView& board() { return *board_; }
    LengthTab& lengths() { return *lengths_; }
    QLabel& conclusion() { return *conclusion_; }
    void showTab(int tab) { tabs_->setCurrentIndex(tab); }
    /// Fills also the pictures that nobody has looked at; they are to be exported.
    void readEverything();

  signals:
    /// Runs that should be put into the queue.
    void runsWanted(const std::vector<roper::Specification>& specifications);
    /// How long a step takes here is to be measured, for the board.
    void speedWanted();
    /// Metrics that were made elsewhere are to be brought in.
    void importWanted();

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    static constexpr int kKeyRole = Qt::UserRole;  ///< a group's key, in lists of groups

    QWidget* makeChooser();
    QWidget* makeCurvesTab();
    QWidget* makeBoardTab();
    QWidget* makeMeasureBar();
    void showAnswers();
    void showGroups();
    void showPairChoices();
    void showCurves();
    void showBoard();
    QComboBox* makeChoice(const QString& name, const QString& help, const QStringList& choices,
                          const std::function<void(CompareQuestion&, int)>& set);
    QCheckBox* makeCheck(const QString& text, const QString& help,
                         const std::function<void(CompareQuestion&, bool)>& set);

    CompareState* state_;
    QLineEdit* filter_;
    QLabel* filter_problem_;
    QTreeWidget* groups_;
    QComboBox *measure_, *first_, *second_, *curve_, *across_, *spread_;
    QSpinBox* share_;
    QCheckBox *drop_worst_, *final_half_, *each_run_;
    QTabWidget* tabs_;
    CurveChart* curves_;
    OutcomeView* outcomes_;
    PairedView* paired_;
    BoardView* board_;
    LengthTab* lengths_;
    QLabel *conclusion_, *board_summary_;
    QPushButton *queue_missing_, *measure_speed_;
    bool showing_ = false;
};

}  // namespace roper
