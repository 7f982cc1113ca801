#pragma once

#include "ui/charts/figure_view.h"
#include "ui/charts/plane_frame.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// The output of one query by RoPER in three steps (rotate, mix, rotate back), and in one, in the plane of
/// one pair.
class StepsView : public FigureView {
    Q_OBJECT

  public:
    StepsView(AttentionState& state, QWidget* parent);

    QSize defaultSize() const override { return {900, 440}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minScreenSize() const override { return {300, 130}; }
    QSize minFigureSize() const override { return {330, 320}; }

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Scene;
    Scene scene() const;
    struct Panels;
    Panels panels(const Scene& scene, const QRectF& area, const QFont& font) const;
    OutputSteps row() const;  ///< of the chosen query
    void paintValues(QPainter& painter, const PlaneFrame& at, const Scene& scene, const Theme& theme) const;
    void paintChain(QPainter& painter, const PlaneFrame& at, const QPolygonF& corners, const QColor& sum,
                    const Theme& theme) const;

    AttentionState& state_;
};

}  // namespace roper
