#pragma once

#include <QTabWidget>
#include <QTableWidget>

#include "ui/explorer/explorer_page.h"
#include "ui/explorer/play_button.h"
#include "ui/explorer/setup_panel.h"
#include "ui/pages/rotation/all_pairs_views.h"
#include "ui/pages/rotation/circle_view.h"
#include "ui/pages/rotation/four_ways_view.h"
#include "ui/pages/rotation/rotation_state.h"
#include "ui/pages/rotation/token_strip.h"
#include "ui/pages/rotation/two_vectors_view.h"
#include "ui/pages/rotation/worked_example_view.h"

namespace roper {

/// Page 1: one or two vectors rotated by their positions, the words of a sentence, and a worked example.
class RotationPage : public ExplorerPage {
    Q_OBJECT

  public:
    RotationPage(Selection& selection, QWidget* parent);

    void refreshHiddenTabs() override { four_ways_->showState(); }
    void addActions(Actions& actions) override;
    QString explanation() const override;

    RotationState& state() { return state_; }

    /// Shows the worked example, up to step `step`.
    void showWorkedExample(int step);

  protected:
    void refresh() override;
    void onVisibilityChanged(bool seen) override;

  private:
    Figure& prepareFigure(FigureRequest request) override;
    void fillPanel();
    QWidget* makeVectorTable();
    void showVector();
    void refuseFeature(int row, int column);
    void step(double positions);
    void onPlayToggled(bool plays);
    void advance();

    RotationState state_;
    CircleView* circle_;
    TwoVectorsView* two_vectors_;
    FourWaysView* four_ways_;
    DialsView* dials_;
    TokenStrip* strip_;
    BarsView* bars_;
    WorkedExamplePanel* worked_;
    QTabWidget *upper_, *lower_;
    SetupPanel* panel_;
    QDoubleSpinBox* speed_;
    PlayButton* play_;
    QTableWidget* vector_;
    bool plays_in_steps_ = false;    ///< with reduced motion, playing moves by whole positions
    double position_remainder_ = 0;  ///< fraction of a position that playing has not moved yet
    bool showing_ = false;           ///< true while the program fills the table of features
};

}  // namespace roper
