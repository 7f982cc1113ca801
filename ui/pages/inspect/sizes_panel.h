#pragma once

#include <QCheckBox>
#include <QPushButton>
#include <QSpinBox>

#include "ui/charts/heat_map_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Share of problems that a run solves, by their size (`ProblemSize`, two numbers), with the total above.
class SizesView : public QWidget {
    Q_OBJECT

  public:
    SizesView(InspectState& state, QWidget* parent);

    HeatMapView& map() const { return *map_; }
    bool hasWorking() const;
    /// @param shows_name    whether the run's name is shown, which is needed only beside another run
    /// @param whole_working for tasks whose solutions show their working: counts a problem only if every step
    ///                      is correct
    void showTable(bool shows_name, bool whole_working);

  signals:
    /// Emitted with the readout of the size under the pointer; empty when it has left.
    void hovered(const QString& readout);

  private:
    QString textAt(int row, int column) const;

    InspectState& state_;
    QLabel* total_;
    HeatMapView* map_;
};

/// Share of problems that a run solves, by size, beside that of the comparison model.
class SizesPanel : public ModelPanel {
    Q_OBJECT

  public:
    SizesPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override;
    AnswerSpecs requiredAnswers() const override { return {&answers::model}; }
    AnswerSpecs answersForFigure(const QString&) const override { return {}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

    HeatMapView& comparisonSizeMap() { return comparison_sizes_->map(); }

  protected:
    void refresh() override;

  private:
    bool isCounting() const { return state().sizes().isCounting() || comparison().sizes().isCounting(); }
    void count();

    SizesView *sizes_, *comparison_sizes_;
    QSpinBox* problems_;
    QPushButton* count_;
    QCheckBox* with_working_;
};

}  // namespace roper
