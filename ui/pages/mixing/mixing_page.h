#pragma once

#include <QTabWidget>

#include "ui/charts/bar_chart.h"
#include "ui/charts/curve_chart.h"
#include "ui/explorer/attention_state.h"
#include "ui/explorer/explorer_page.h"
#include "ui/explorer/play_button.h"
#include "ui/explorer/setup_panel.h"
#include "ui/pages/mixing/implementations_table.h"
#include "ui/pages/mixing/pair_table.h"
#include "ui/pages/mixing/steps_view.h"
#include "ui/pages/mixing/value_chain_view.h"

namespace roper {

/// Page 4: the mixing of values by attention, in RoPE and in RoPER.
class MixingPage : public ExplorerPage {
    Q_OBJECT

  public:
    MixingPage(AttentionState& state, QWidget* parent);

    void refreshHiddenTabs() override;
    void addActions(Actions& actions) override;
    QString explanation() const override;

    ValueChainView& chainView() { return *chain_view_; }
    BarChart& distances() { return *distances_; }
    CurveChart& shiftChart() { return *shifts_; }
    PairTable& pairTable() { return *pairs_; }
    StepsView& steps() { return *steps_; }
    ImplementationsTable& implementations() { return *implementations_; }

    /// Shows a tab below the arrows, by index.
    void showTab(int index) { lower_->setCurrentIndex(index); }

  protected:
    void refresh() override;
    void onVisibilityChanged(bool seen) override;

  private:
    static constexpr int kFrame_ms = 33;

    Figure& prepareFigure(FigureRequest request) override;
    void fillPanel();
    void showDistances();
    void showShifts();
    void moveQuery(int by);
    void advance();
    void advanceKey();

    AttentionState& state_;
    ValueChainView* chain_view_;
    BarChart* distances_;
    StepsView* steps_;
    CurveChart* shifts_;
    PairTable* pairs_;
    ImplementationsTable* implementations_;
    QTabWidget* lower_;
    SetupPanel* panel_;
    PlayButton* play_;
    QLabel* verdict_;       ///< how much the output changes when all positions shift
    double direction_ = 1;  ///< of the animated blend: 1 toward RoPER, −1 toward RoPE
    int frame_ = 0;         ///< frames since the animated key has moved
};

}  // namespace roper
