#pragma once

#include <QComboBox>

#include "ui/pages/inspect/model_panel.h"
#include "ui/pages/inspect/predictions_view.h"
#include "ui/pages/inspect/surprise_view.h"

namespace roper {

/// How well the model predicts each token of the text, and what it expects next.
class TextPanel : public ModelPanel {
    Q_OBJECT

  public:
    TextPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {surprise_, predictions_}; }
    std::vector<const Need*> needs() const override { return {&need::reading, &need::changed}; }
    void prepare(const QString& figure, const InspectPicture& picture) override;

    SurpriseView& surprise() { return *surprise_; }
    void setShade(SurpriseView::Shade shade);

  protected:
    void refresh() override {}  // its pictures follow the state themselves

  private:
    SurpriseView* surprise_;
    PredictionsView* predictions_;
    QComboBox* shade_;
};

}  // namespace roper
