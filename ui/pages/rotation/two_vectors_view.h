#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// A query q at position n and a key k at position j in the plane of the chosen pair: both are rotated by
/// their positions, and shifting both positions by S leaves the angle between them unchanged.
class TwoVectorsView : public FigureView {
    Q_OBJECT

  public:
    TwoVectorsView(RotationState& state, QWidget* parent);

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minScreenSize() const override { return {240, 200}; }
    QSize minFigureSize() const override { return {300, 260}; }

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

  private:
    enum class Dragged { nothing, query, key };

    /// All numbers shown.
    struct Scene {
        PlaneFrame plane;
        QPointF q, k, q_rotated, k_rotated;  ///< in the plane of the pair
        double score, score_unshifted;       ///< ⟨R(n+S)q, R(j+S)k⟩ over all features; the same for S = 0
        double pair_part;                    ///< contribution of this pair to the score
        bool is_narrow = false;              ///< too narrow to show all numbers
        double angle;                        ///< from the rotated key to the rotated query, radians
    };
    Scene scene(const QRectF& area) const;
    void dragTo(const QPointF& at);
    QString summary(const Scene& scene) const;

    RotationState& state_;
    Dragged dragged_ = Dragged::nothing;
    bool dragged_rotated_ = false;  ///< the rotated tip is being dragged
    double drag_extent_ = 1;        ///< extent of the plane while an arrow is dragged
};

}  // namespace roper
