#pragma once

#include <QPushButton>
#include <QSpinBox>

#include "ui/charts/curve_chart.h"
#include "ui/controls/text_inputs.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Texts longer than in training: the loss by position with scaled frequencies, and whether the model finds a
/// sentence (the needle) hidden in the text.
class LengthsPanel : public ModelPanel {
    Q_OBJECT

  public:
    LengthsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {lengths_, needle_map_}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

  protected:
    void refresh() override;

  private:
    void showLengths();
    void showNeedle();
    QString needleReadout(const NeedleAnswer& answer, std::size_t row, std::size_t column) const;

    CurveChart* lengths_;
    HeatMapView* needle_map_;
    NumberEdit* length_factor_;
    QSpinBox* trained_;  ///< training context length in tokens; 0: as the model states
    LineEdit *needle_text_, *needle_question_, *needle_answer_;
    QPushButton *read_longer_, *hide_needle_;
};

}  // namespace roper
