#pragma once

#include <QPainter>

namespace roper {

/// A filled arrow head with its tip at `to`, pointing away from `from`.
void drawArrowHead(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color,
                   double size);

/// A line with an arrow head at `to`; a dot if it is too short for a head.
void drawArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color, double width);

}  // namespace roper
