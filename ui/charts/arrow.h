#pragma once

#include <QPainter>

namespace roper {

/// A filled arrow head whose tip is at `to`, pointing away from `from`.
void drawArrowHead(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color,
                   double size);

/// A line with a head at `to`. Too short for a head, it is a dot.
void drawArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color, double width);

}  // namespace roper
