#pragma once

#include <QComboBox>
#include <QTimer>

#include "core/runs/rows.h"
#include "ui/charts/curve_chart.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Quantities of a run's position method that are learned or monitored over training (method.csv): trained
/// frequencies relative to their initial θᵢ, T5's biases by bucket of distances, the smallest denominators of
/// linear attention.
class LearnedPanel : public ModelPanel {
    Q_OBJECT

  public:
    LearnedPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {chart_}; }
    AnswerSpecs requiredAnswers() const override { return {&answers::model}; }
    AnswerSpecs answersForFigure(const QString&) const override { return {}; }
    /// @throws Error (usage) if the run has no such numbers
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

  protected:
    /// Reads the file again if the run or the file's size has changed.
    void refresh() override;

  private:
    void fillChoices();
    void draw();
    std::vector<CurveChart::Curve> driftCurves(const std::string& quantity, std::int64_t layer) const;
    template <class Wanted, class X>
    std::vector<CurveChart::Curve> curvesByHead(Wanted wanted, X x) const;

    QComboBox *quantity_, *layer_;
    QLabel* summary_;
    CurveChart* chart_;
    QTimer timer_;
    QString run_;              ///< run whose rows are shown
    std::uintmax_t size_ = 0;  ///< bytes of method.csv when it was read
    std::vector<MethodRow> rows_;
    QString problem_;  ///< why the file could not be read; empty without an error
};

}  // namespace roper
