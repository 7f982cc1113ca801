#pragma once

#include <QComboBox>
#include <QFutureWatcher>
#include <QTabBar>
#include <optional>
#include <string>

#include "ui/charts/bar_chart.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/heat_map_view.h"
#include "ui/explorer/attention_state.h"
#include "ui/explorer/explorer_page.h"
#include "ui/explorer/play_button.h"
#include "ui/explorer/setup_panel.h"
#include "ui/pages/attention/attention_map.h"
#include "ui/pages/attention/distance_chart.h"
#include "ui/pages/attention/mistake_gallery.h"
#include "ui/pages/attention/vectors_table.h"

namespace roper {

/// Page 3: scores and weights of all tokens, the terms of a score, and typical mistakes.
class AttentionPage : public ExplorerPage {
    Q_OBJECT

  public:
    AttentionPage(AttentionState& state, QWidget* parent);
    ~AttentionPage() override;

    void refreshHiddenTabs() override { by_distance_->refresh(); }
    void addActions(Actions& actions) override;
    QString explanation() const override;

    HeatMapView& map() { return *map_; }
    BarChart& bars() { return *bars_; }
    CurveChart& biasChart() { return *bias_; }
    DistanceChart& distanceChart() { return *by_distance_; }
    HeatMapView& table() { return *table_; }
    QComboBox& biasKind() { return *bias_kind_; }
    MistakeGallery& gallery() { return *gallery_; }
    QString headline() const { return headline_->text(); }
    /// Whether a large map is being computed or its result is pending.
    bool isComputing() const { return is_computing_; }

  signals:
    void valueMixingRequested();
    void trainingRequested();

  protected:
    void refresh() override;
    void onVisibilityChanged(bool seen) override;

  private:
    Figure& prepareFigure(FigureRequest request) override;
    std::string visibleCells() const;
    void showCells(const std::string& text);
    void hoverDistance(double x);
    void showHovered();
    /// Inputs of the bias chart and of the position table, which are redrawn only if these change.
    struct BiasInputs {
        std::string method = "none";
        HeadContext head = {};
        int distances = 0, kind = 0, query_minus_key = 0;
        qint64 palette = 0;  ///< cache key

        bool operator==(const BiasInputs&) const = default;
    };
    struct TableInputs {
        int positions = 0, width = 0;
        double base = 0;
        QString learned_run = {};

        bool operator==(const TableInputs&) const = default;
    };

    QWidget* makeFigures();
    QWidget* makeBiasTab();
    void prepareTable();
    void fillPanel();
    void showMap();
    void showComputedMap(MapInputs inputs, HeatMapView::Map map);
    void showRequestedCells();
    void showScoreContributions();
    void showBias();
    void showTable();
    void showNotReady();
    void toggleAblation(int pair);
    void select(int query, int key);
    void moveKey(int by);
    void moveQuery(int by);
    QString cellText(int row, int column) const;

    AttentionState& state_;
    QTabBar* kinds_;  ///< kinds of maps
    QLabel* headline_;
    QPushButton *show_value_mixing_, *help_;  ///< `help_`: what to do if there is no map
    HeatMapView* map_;
    BarChart* bars_;
    BiasInputs bias_inputs_;
    TableInputs table_inputs_;
    CurveChart* bias_;
    DistanceChart* by_distance_;
    QComboBox* bias_kind_;
    HeatMapView* table_;
    VectorsTable* vectors_;
    QTabWidget* lower_;
    MistakeGallery* gallery_;
    SetupPanel* panel_;
    PlayButton* play_;
    MapInputs shown_inputs_;      ///< of the visible map
    MapInputs computing_inputs_;  ///< of the map computed in another thread
    QFutureWatcher<HeatMapView::Map> computing_;
    bool is_computing_ = false;              ///< until its result has been taken
    std::optional<QRectF> requested_cells_;  ///< to be shown once the map that they belong to is ready
    bool recompute_ = false;                 ///< the setup changed while a large map was computed
};

}  // namespace roper
