#pragma once

#include "ui/charts/figure_view.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// A mistake beside the correct form, on the same arrows, while the whole sentence is shifted: query and key
/// of the chosen cell in the plane of its pair, or the output of one value if the mistake concerns values.
class MistakeArrowsView : public FigureView {
    Q_OBJECT

  public:
    MistakeArrowsView(AttentionState& state, QWidget* parent);

    void setMistake(Mistake mistake) { setAndUpdate(mistake_, mistake); }
    /// Shifts the sentence; the arrows at S = 0 remain, paler.
    void setShift(double shift) { setAndUpdate(shift_, shift); }

    /// The quantity that shifting should not change: the product of the pair's unit arrows, or the angle of
    /// the output in radians.
    double invariant(bool right, double shift) const;

    QSize defaultSize() const override { return {640, 340}; }
    QSize minFigureSize() const override { return {320, 220}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  private:
    struct Arrows {
        QPointF query, key, output;  ///< of length 1; for values only the output
    };
    Setup setupOf(bool right) const;
    Arrows arrows(bool right, double shift) const;
    void paintSide(QPainter& painter, const QRectF& area, bool right, const Theme& theme) const;

    AttentionState& state_;
    Mistake mistake_ = Mistake::wrong_direction;
    double shift_ = 0;
};

}  // namespace roper
