#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// The index of the pair of each feature [head_dim].
std::vector<int> pairOfFeature(const Rotary& rotary);

/// The vector as bars, one per feature: pale before, strong after rotation, colored by pair.
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

/// Every pair as a small dial, the fastest first. The pale hand is x, the strong one x rotated. A click
/// chooses the pair.
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
    int pairAt(const QPointF& at) const;  ///< −1: none

    RotationState& state_;
};

}  // namespace roper
