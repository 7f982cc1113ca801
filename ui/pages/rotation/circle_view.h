#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// The vector x at position m in the plane of the chosen pair, whose frequency is θ: x as an arrow that can
/// be dragged, R(m)x, the arc mθ between them, and R(p)x for the positions p from 0 to m.
class CircleView : public FigureView {
    Q_OBJECT

  public:
    CircleView(RotationState& state, QWidget* parent);

    QSize defaultSize() const override { return {520, 520}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minScreenSize() const override { return {230, 210}; }
    QSize minFigureSize() const override { return {300, 300}; }

    /// Position of the tip of x, or of R(m)x, on the canvas in pixels.
    QPointF tip(bool rotated) const;

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

  private:
    struct Plane;
    Plane plane(const QRectF& area) const;
    QString angleText(const Plane& at) const;
    void paintGrid(QPainter& painter, const Plane& plane, const Theme& theme) const;
    void paintTrail(QPainter& painter, const Plane& plane, const Theme& theme) const;
    void paintArc(QPainter& painter, const Plane& plane, const Theme& theme) const;
    void dragTo(const QPointF& at);
    QString readoutAt(const QPointF& at) const;

    RotationState& state_;
    enum class Dragged { nothing, vector, rotated };
    Dragged dragged_ = Dragged::nothing;
    double drag_extent_ = 1;  ///< extent of the plane while an arrow is dragged
};

}  // namespace roper
