#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSpinBox>

#include "ui/charts/curve_chart.h"
#include "ui/pages/inspect/head_scatter_view.h"
#include "ui/pages/inspect/heads_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Quantity that the chart of a head's reach (its attention by distance) shows.
enum class ReachQuantity { weight, score };

/// All heads as a scatter plot and as thumbnails; the map of the chosen head and its attention by distance.
class HeadsPanel : public ModelPanel {
    Q_OBJECT

  public:
    HeadsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {atlas_, map_, grid_, reach_}; }
    AnswerSpecs requiredAnswers() const override;
    AnswerSpecs answersForFigure(const QString& figure) const override;
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

  protected:
    void refresh() override;

  private:
    /// Sort orders of the thumbnails, in the order of the combo box; `place`: by layer and head.
    enum class Order { place, entropy, distance, first_score };  ///< then the entries of `headScores`
    QSpinBox* makeNumber(const QString& name, const QString& prefix);
    void showLabels();
    void showOrder();
    std::vector<double> numbersOfOrder() const;
    AnswerSpecs withScores(AnswerSpecs specs) const;
    void showMap();
    void showReach();

    HeadScatterView* atlas_;
    HeadsView* grid_;
    HeatMapView* map_;
    CurveChart* reach_;
    QComboBox *label_, *color_by_, *reach_quantity_, *order_;
    QSpinBox *layer_, *head_;
    QLabel* map_title_;
};

}  // namespace roper
