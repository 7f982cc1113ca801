#pragma once

#include <QColor>
#include <QPainter>
#include <Qt>

namespace roper {

/// A filled arrow head with its tip at `to`, pointing away from `from`.
void drawArrowHead(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color,
                   double size);

/// A line with an arrow head at `to`; a dot if it is too short for a head.
void drawArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color, double width);

/// Alignments of a text in its rectangle.
inline constexpr auto kLeftMiddle = Qt::AlignLeft | Qt::AlignVCenter,
                      kRightMiddle = Qt::AlignRight | Qt::AlignVCenter;

/// Draws a text in a color, which becomes the pen's.
inline void drawColoredText(QPainter& painter, const QRectF& place, int flags, const QString& text,
                            const QColor& color) {
    painter.setPen(color);
    painter.drawText(place, flags, text);
}

/// Black or white, whichever stands out more from a fill: a contrast of at least 4.5.
QColor textColorOn(const QColor& fill);

/// A translucent background for text over lines.
QColor translucent(QColor background);

/// Line styles that are distinguishable without colors: 0 is solid; the numbers wrap around.
Qt::PenStyle dashOf(int number);

}  // namespace roper
