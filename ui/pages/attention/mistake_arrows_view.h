#pragma once

#include "ui/charts/figure_view.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// A mistake beside the right form, on the same arrows, while the whole sentence moves: query and key of the
/// looked-at cell in the plane of its pair, or the output of one value where the mistake is about values.
class MistakeArrowsView : public FigureView {
    Q_OBJECT

  public:
    MistakeArrowsView(AttentionState& state, QWidget* parent);

    void setMistake(Mistake mistake) { redrawWith(mistake_, mistake); }
    /// Moves the sentence; the arrows at S = 0 stay, paler.
    void setShift(double shift) { redrawWith(shift_, shift); }

    /// What moving the sentence should leave as it is: the product of the pair's arrows, of length 1 each, or
    /// the angle of the output in radians.
    double invariant(bool right, double shift) const;

    QSize defaultSize() const override { return {640, 340}; }
    QSize leastSize() const override { return {320, 220}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  private:
    struct Arrows {
        QPointF query, key, output;  ///< of length 1; of values only the output
    };
    Setup setupOf(bool right) const;
    Arrows arrows(bool right, double shift) const;
    void paintSide(QPainter& painter, const QRectF& area, bool right, const Theme& theme) const;

    AttentionState& state_;
    Mistake mistake_ = Mistake::wrong_direction;
    double shift_ = 0;
};

}  // namespace roper
