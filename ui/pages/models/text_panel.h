#pragma once

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>

#include "ui/pages/models/model_panel.h"
#include "ui/pages/models/predictions_view.h"
#include "ui/pages/models/surprise_view.h"

namespace roper {

/// How well the model predicts each token of the text, what it expects next, and how it continues it.
class TextPanel : public ModelPanel {
    Q_OBJECT

  public:
    TextPanel(ModelsState& state, QWidget* parent);

    PageFigures::Figures figures() const override { return {surprise_, predictions_}; }
    std::vector<const Need*> needs() const override { return {&need::reading, &need::changed}; }
    void prepare(const QString& figure, const ModelsPicture& picture) override;

    SurpriseView& surprise() { return *surprise_; }
    void setShade(SurpriseView::Shade shade);

  protected:
    void refresh() override;

  private:
    void write();

    SurpriseView* surprise_;
    PredictionsView* predictions_;
    QComboBox* shade_;
    QSpinBox *count_, *seed_;
    QDoubleSpinBox* temperature_;
    QPushButton* write_;
    QLabel* written_;
};

}  // namespace roper
