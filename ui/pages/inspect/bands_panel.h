#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <optional>

#include "ui/charts/bar_chart.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Quantity that the map of bands shows for each pair.
enum class BandQuantity { score_share, query_norm, key_norm, value_norm };

/// Share of each pair of features in every head, and in the chosen head compared with the model beside it.
class BandsPanel : public ModelPanel {
    Q_OBJECT

  public:
    BandsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {bands_, head_bands_}; }
    std::vector<const Need*> needs() const override { return {&need::heads, &need::reading, &need::changed}; }
    std::vector<const Need*> besideNeeds() const override { return {&need::heads}; }
    std::vector<const Need*> needsOf(const QString&) const override { return {&need::heads}; }
    void prepare(const QString& figure, const InspectPicture& picture) override;

    HeatMapView& bands() { return *bands_; }
    BarChart& headBands() { return *head_bands_; }
    void setQuantity(BandQuantity quantity);

  protected:
    void refresh() override;

  private:
    BandQuantity quantity() const { return static_cast<BandQuantity>(quantity_->currentIndex()); }
    void showBands();
    void showHeadBands();
    std::optional<Eigen::VectorXd> bandsOf(const InspectState& state) const;
    QString pointedBand(int row, int column) const;

    HeatMapView* bands_;
    BarChart* head_bands_;
    QComboBox* quantity_;
    QCheckBox* mean_;
};

}  // namespace roper
