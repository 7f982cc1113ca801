#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// The pair of each feature.
std::vector<int> pairOfFeature(const Rotary& rotary);

/// The vector as bars, one per feature: pale before, strong after rotation, coloured by pair.
class BarsView : public FigureView {
    Q_OBJECT

  public:
    BarsView(RotationState& state, QWidget* parent);

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minScreenSize() const override { return {240, 100}; }
    QSize minFigureSize() const override { return {300, 130}; }

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    QRectF plot(const QRectF& area) const { return area.adjusted(44, 26, -12, -24); }

    void paintLegend(QPainter& painter, const QRectF& area, const Theme& theme) const;

    RotationState& state_;
};

}  // namespace roper
