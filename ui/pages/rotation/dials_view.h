#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// Every pair as a small dial, the fastest first. The pale hand is x, the strong one R(m)x. A click chooses
/// the pair.
class DialsView : public FigureView {
    Q_OBJECT

  public:
    DialsView(RotationState& state, QWidget* parent);

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minScreenSize() const override { return {150, 130}; }
    QSize minFigureSize() const override { return {220, 160}; }

    /// Rectangle of a pair's dial on the canvas.
    QRectF dialRect(int pair) const { return cell(canvas(), pair); }

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    int pairs() const { return state_.setup().head_dim / 2; }
    int columns(const QRectF& area) const;
    QRectF cell(const QRectF& area, int pair) const;
    int pairAt(const QPointF& at) const;

    RotationState& state_;
};

}  // namespace roper
