#pragma once

#include <optional>

#include "core/rotary/value_mixing.h"
#include "ui/charts/figure_view.h"
#include "ui/charts/label_placer.h"
#include "ui/charts/plane_frame.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// Mixing of values for one query n in the plane of one pair. Left RoPE, right RoPER (or the blend, or RoPER
/// with a mistake): the weighted value a_nj·v_j of every key j as an arrow, head to tail, with the sum in
/// bold.
class ValueChainView : public FigureView {
    Q_OBJECT

  public:
    ValueChainView(AttentionState& state, QWidget* parent);

    QSize defaultSize() const override { return {900, 440}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSize minScreenSize() const override { return {300, 190}; }
    QSize minFigureSize() const override { return {330, 240}; }

    /// Whether one token has all the weight. It can then be dragged along the clock: a circle with a mark for
    /// the output at each of its positions.
    bool showsClock() const { return state_.setup().effectiveMixedTokens() == MixedTokens::one; }

    /// Tip of RoPER's output if the single token were at position j, in pixels.
    QPointF markAt(int j) const;

    /// The chain as drawn on the left (RoPE) or on the right.
    ValueChain chainOf(bool right) const;
    ValueChain ropeChain() const { return chainOf(false); }
    ValueChain roperChain() const { return chainOf(true); }

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    /// A rectangle of the plane that contains both chains for every blend and shift.
    QRectF shownPlane() const;
    QRectF half(const QRectF& area, bool right) const;
    PlaneFrame plane(const QRectF& area, bool right, const QRectF& shown, const QFont& font) const;
    struct Texts {
        QString title, formula, rotation, output;
    };
    Texts texts(bool right) const;
    std::pair<double, double> textHeights(double width, const QFont& font) const;
    void paintTexts(QPainter& painter, const QRectF& box, bool right, const Theme& theme) const;
    void labelChain(QPainter& painter, LabelPlacer& labels, const PlaneFrame& at, const ValueChain& chain,
                    bool right, const Theme& theme) const;
    void paintPanel(QPainter& painter, const QRectF& area, bool right, const QRectF& shown,
                    const Theme& theme) const;
    /// Text about the rotation of the chosen key's value.
    QString rotationText(const ValueChain& chain) const;
    void paintChain(QPainter& painter, const PlaneFrame& at, const ValueChain& chain, bool rotated,
                    const Theme& theme) const;
    /// @param length  of the arrow, in pixels
    void paintRotation(QPainter& painter, const QPointF& tail, const ValueArrow& arrow, double length,
                       bool strong, const Theme& theme) const;
    /// The tips of the output for every position of the single token: marks at (j − n)θ on a circle.
    void paintClock(QPainter& painter, LabelPlacer& labels, const PlaneFrame& at, bool right,
                    const Theme& theme) const;
    std::vector<int> markedTokens() const;  ///< tokens with a mark
    /// Position of the single token whose mark is nearest to a point of the widget, on the right.
    int nearestMark(const QPointF& at) const;
    /// The output of the right side if the single token were at j, in the plane.
    Eigen::Vector2d markOf(const AttentionForm& form, int j) const;
    /// Whether all marks coincide: on the left, and on the right if values do not rotate.
    bool marksCoincide(bool right) const;
    void choose(const QPointF& at);
    void paintShiftTrail(QPainter& painter, const PlaneFrame& at, const Theme& theme) const;
    /// The attention form of one side; RoPE on the left.
    AttentionForm formOf(bool right) const;
    /// The arrow of one side whose middle is nearest to a point of the widget; nothing without arrows.
    std::optional<ValueArrow> nearest(bool right, const QPointF& at) const;

    AttentionState& state_;
};

}  // namespace roper
