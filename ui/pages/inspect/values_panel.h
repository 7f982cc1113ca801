#pragma once

#include <QCheckBox>
#include <QSpinBox>

#include "ui/charts/curve_chart.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Value kernels K(δ) of heads by distance δ (`ValueKernel`), at one step or over training, and what they add
/// to the logits of tokens.
class ValuesPanel : public ModelPanel {
    Q_OBJECT

  public:
    ValuesPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {kernels_, directions_, token_map_, ov_}; }
    AnswerSpecs requiredAnswers() const override;
    AnswerSpecs comparisonAnswers() const override { return {&answers::kernels}; }
    AnswerSpecs answersForFigure(const QString& figure) const override;
    /// @throws Error (usage) over training, if the run has fewer than two checkpoints
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

  protected:
    void refresh() override;

  private:
    struct KernelCurves;

    /// For a run: kernels of the chosen head at every checkpoint, instead of all heads of its layer at one.
    bool isOverTraining() const { return over_training_->isEnabled() && over_training_->isChecked(); }
    void showKernels();
    void addKernelsOfHeads(KernelCurves& curves) const;
    void addKernelsOverTraining(KernelCurves& curves) const;
    void showTokenMap();
    void showOv();
    QString tokenPairReadout(const TokenMap& answer, std::size_t row, std::size_t column) const;

    CurveChart *kernels_, *directions_, *ov_;
    HeatMapView* token_map_;
    QCheckBox* over_training_;
    QSpinBox* distance_;
};

}  // namespace roper
