#pragma once

#include "ui/charts/heat_map_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// The rotation R(m) by position m as a full d × d matrix, and R(m)x computed in four ways: with the
/// 2 × 2 matrix of each pair, element-wise, with complex numbers, and with the full matrix.
class FourWaysView : public HeatMapView {
    Q_OBJECT

  public:
    FourWaysView(RotationState& state, QWidget* parent);

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QSize minScreenSize() const override { return {240, 180}; }
    QSize minFigureSize() const override { return {300, 220}; }

    /// Shows the matrix of the current setup; called explicitly because large matrices take time.
    void showState();

  protected:
    QRectF mapArea(const QRectF& area) const override;

  private:
    RotationState& state_;
};

}  // namespace roper
