#pragma once

#include "ui/charts/figure_view.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// The correct form (left) and a mistake (right) on the same arrows, while the whole sentence is shifted: the
/// chosen query and key in the plane of the chosen pair or, if the mistake concerns values, the output for
/// one value.
class MistakeArrowsView : public FigureView {
    Q_OBJECT

  public:
    MistakeArrowsView(AttentionState& state, QWidget* parent);

    void setMistake(Mistake mistake) { setAndUpdate(mistake_, mistake); }
    /// Shifts the sentence by S positions; the arrows at S = 0 remain, paler.
    void setShift(double shift) { setAndUpdate(shift_, shift); }

    /// The quantity that shifting should not change: the product of the pair's unit arrows, or the angle of
    /// the output in radians.
    /// @param correct  by the correct form instead of the mistake
    double invariant(bool correct, double shift) const;

    QSize defaultSize() const override { return {640, 340}; }
    QSize minFigureSize() const override { return {320, 220}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  private:
    struct Arrows {
        QPointF query, key, output;  ///< of length 1; for mistakes in values only the output
    };
    Setup setupOf(bool correct) const;
    Arrows arrows(bool correct, double shift) const;
    void paintSide(QPainter& painter, const QRectF& area, bool correct, const Theme& theme) const;

    AttentionState& state_;
    Mistake mistake_ = Mistake::wrong_direction;
    double shift_ = 0;
};

}  // namespace roper
