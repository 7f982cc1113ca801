#pragma once

#include <QPainter>

namespace roper {

/// Alignments of a text in its rectangle.
inline constexpr auto kLeftMiddle = Qt::AlignLeft | Qt::AlignVCenter,
                      kRightMiddle = Qt::AlignRight | Qt::AlignVCenter;

/// Draws a text in a colour, which becomes the pen's.
inline void drawColoredText(QPainter& painter, const QRectF& place, int flags, const QString& text,
                            const QColor& color) {
    painter.setPen(color);
    painter.drawText(place, flags, text);
}

}  // namespace roper
