#pragma once

#include <QPainter>

namespace roper {

/// Where a text stands in its place.
inline constexpr auto kLeftMiddle = Qt::AlignLeft | Qt::AlignVCenter,
                      kRightMiddle = Qt::AlignRight | Qt::AlignVCenter;

/// Writes a text in a colour, which the pen keeps.
inline void writeText(QPainter& painter, const QRectF& place, int flags, const QString& text,
                      const QColor& color) {
    painter.setPen(color);
    painter.drawText(place, flags, text);
}

}  // namespace roper
