#pragma once

#include <QCheckBox>
#include <QPushButton>
#include <QSpinBox>

#include "ui/pages/inspect/inspect_state.h"
#include "ui/pages/inspect/model_panel.h"
#include "ui/pages/inspect/sizes_view.h"

namespace roper {

/// What share of the problems of each size a run solves, beside it another.
class SizesPanel : public ModelPanel {
    Q_OBJECT

  public:
    SizesPanel(ModelsState& state, InspectState& run, InspectState& beside, QWidget* parent);

    PageFigures::Figures figures() const override;
    void prepare(const QString& figure, const ModelsPicture& picture) override;

    HeatMapView& sizeMap() { return sizes_->map(); }
    HeatMapView& besideSizeMap() { return beside_sizes_->map(); }

  protected:
    void refresh() override;

  private:
    bool isCounting() const { return run_.isCountingSizes() || beside_.isCountingSizes(); }
    void count();

    InspectState &run_, &beside_;
    SizesView *sizes_, *beside_sizes_;
    QSpinBox* problems_;
    QPushButton* count_;
    QCheckBox* with_working_;
};

}  // namespace roper
