#pragma once

#include <QPushButton>

#include "ui/charts/bar_chart.h"
#include "ui/controls/text_inputs.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Activation patching: the heads, and the positions of one head, that make the answers to two texts differ.
class PatchPanel : public ModelPanel {
    Q_OBJECT

  public:
    PatchPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {patch_map_, patch_positions_}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

    /// Sets the text with which that of the page is compared.
    void setOther(const QString& text) { other_->setText(text); }

  protected:
    void refresh() override;

  private:
    void enableButton();
    /// @param positions  patch the chosen head position by position; otherwise each head at all positions
    void ask(bool positions);
    void showPatch();
    void showPatchPositions();
    QString headReadout(const PatchAnswer& answer, std::size_t row, std::size_t column) const;
    QString tokenReadout(int position) const;

    HeatMapView* patch_map_;
    BarChart* patch_positions_;
    LineEdit* other_;
    QPushButton* patch_button_;
};

}  // namespace roper
