#pragma once

#include <QLineF>
#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <optional>
#include <vector>

namespace roper {

/// Places labels of a figure inside an area, without overlap, and off its lines if there is room.
class LabelPlacer {
  public:
    /// @param area  bounds of all labels
    explicit LabelPlacer(const QRectF& area) : area_(area) {}

    /// Adds an area that no label may cover.
    void block(const QRectF& box) { blocked_.push_back(box); }
    /// Adds a line that labels should avoid.
    void avoid(const QPointF& from, const QPointF& to) { lines_.emplace_back(from, to); }

    /// Finds a rectangle for a box near a point, first in the given direction, then at other angles and
    /// distances, and blocks it. Empty if every one would cover another label.
    /// @param away  unit vector from the point in the preferred direction; zero: any
    std::optional<QRectF> place(const QSizeF& size, const QPointF& at, const QPointF& away);

    /// Draws a text in such a rectangle, if there is one, in the painter's font.
    void draw(QPainter& painter, const QString& text, const QPointF& at, const QPointF& away,
              const QColor& color);
    /// Draws a text in a given rectangle, and blocks the area that it fills.
    void drawAt(QPainter& painter, const QString& text, const QRectF& box, int alignment,
                const QColor& color);

  private:
    double cost(const QRectF& box) const;

    QRectF area_;
    std::vector<QRectF> blocked_;
    std::vector<QLineF> lines_;
};

/// Length of the part of a line inside a box.
double lengthInside(const QLineF& line, const QRectF& box);

/// Unit vector from one point to another; zero if they coincide.
QPointF directionOf(const QPointF& from, const QPointF& to);

/// Offsets across a row of dots, chosen so that dots do not overlap if there is room: the first of several
/// overlapping dots stays in the middle. The result is deterministic.
/// @param along  positions of the dots along the row
/// @param reach  maximum offset to either side
std::vector<double> beeswarm(const std::vector<double>& along, double diameter, double reach);

}  // namespace roper
