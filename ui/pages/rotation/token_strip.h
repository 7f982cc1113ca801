#pragma once

#include <QStringList>

#include "ui/charts/figure_view.h"
#include "ui/pages/rotation/rotation_state.h"

namespace roper {

/// The sentence token by token, each with the chosen pair of x rotated by the token's position. A click on a
/// token chooses its position.
class TokenStrip : public FigureView {
    Q_OBJECT

  public:
    TokenStrip(RotationState& state, QWidget* parent);

    QStringList tokens() const;
    QRectF cellRect(int token) const { return cell(canvas(), token); }

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    QSizeF sizeForWidth(double width) const override;
    QSize minFigureSize() const override { return {260, 74}; }

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    int columns(double width) const;
    QRectF cell(const QRectF& area, int token) const;
    /// −1 if there is none.
    int tokenAt(const QPointF& at) const;
    /// The chosen pair of x, rotated by a position.
    QPointF rotatedTo(double position) const;

    RotationState& state_;
};

}  // namespace roper
