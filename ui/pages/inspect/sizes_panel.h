#pragma once

#include <QCheckBox>
#include <QPushButton>
#include <QSpinBox>

#include "ui/charts/heat_map_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// What share of the problems of each size a run solves, below its total.
class SizesView : public QWidget {
    Q_OBJECT

  public:
    SizesView(InspectState& state, QWidget* parent);

    HeatMapView& map() { return *map_; }
    const HeatMapView& map() const { return *map_; }
    /// Whether the run is named: where another stands beside it.
    void setNamed(bool named);
    /// Whether only problems with every step of the working right count, where the task has a working.
    void setFully(bool fully);
    bool hasWorking() const;

  signals:
    /// The problems of the size under the pointer as text; empty when it has left.
    void pointed(const QString& readout);

  private:
    void refresh();
    QString textAt(int row, int column) const;

    InspectState& state_;
    QLabel* total_;
    HeatMapView* map_;
    bool is_named_ = false, fully_ = false;
};

/// What share of the problems of each size a run solves, beside it another.
class SizesPanel : public ModelPanel {
    Q_OBJECT

  public:
    SizesPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override;
    std::vector<const Need*> needsOf(const QString&) const override { return {}; }
    void prepare(const QString& figure, const InspectPicture& picture) override;

    HeatMapView& sizeMap() { return sizes_->map(); }
    HeatMapView& besideSizeMap() { return beside_sizes_->map(); }

  protected:
    void refresh() override;

  private:
    bool isCounting() const { return state().sizes().isCounting() || beside().sizes().isCounting(); }
    void count();

    SizesView *sizes_, *beside_sizes_;
    QSpinBox* problems_;
    QPushButton* count_;
    QCheckBox* with_working_;
};

}  // namespace roper
