#pragma once

#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Logit lens: the next token as predicted from the residual stream after every layer.
class LayersPanel : public ModelPanel {
    Q_OBJECT

  public:
    LayersPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {lens_map_}; }
    AnswerSpecs requiredAnswers() const override {
        return {&answers::lens, &answers::predictions, &answers::changed_predictions};
    }
    AnswerSpecs answersForFigure(const QString&) const override { return {&answers::lens}; }

  protected:
    void refresh() override;

  private:
    QString layerReadout(const LensAnswer& answer, std::size_t row, std::size_t column) const;

    HeatMapView* lens_map_;
};

}  // namespace roper
