#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// A query at m and a key at n in the plane of the chosen pair: both are rotated by their positions, and both
/// positions can be shifted together without changing the angle between them.
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
        double score, score_unshifted;       ///< ⟨R(m+S)q, R(n+S)k⟩ over all features; the same for S = 0
        double pair_part;                    ///< contribution of this pair
        bool is_narrow = false;              ///< too narrow to show all numbers
        double angle;                        ///< from the rotated key to the rotated query, radians
    };
    Scene scene(const QRectF& area) const;
    void dragTo(const QPointF& at);
    QString summary(const Scene& scene) const;

    RotationState& state_;
    Dragged dragged_ = Dragged::nothing;
    bool dragged_rotated_ = false;  ///< the rotated tip is being dragged
    double drag_extent_ = 1;
};

}  // namespace roper
