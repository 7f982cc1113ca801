#pragma once

#include <QLineF>
#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <optional>
#include <vector>

namespace roper {

/// Finds places for the labels of a picture: inside it, over no other label, and off its lines where there is
/// room.
class LabelPlacer {
  public:
    /// @param area  that labels stay inside
    explicit LabelPlacer(const QRectF& area) : area_(area) {}

    /// What no label may cover.
    void block(const QRectF& box) { blocked_.push_back(box); }
    /// A line that labels keep off if they can.
    void avoid(const QPointF& from, const QPointF& to) { lines_.emplace_back(from, to); }

    /// A place for a box near a point, first in a direction, then farther round and farther away; from now on
    /// it is blocked. Empty where every place covers another label.
    /// @param away  unit vector from the point towards where the label is wanted; zero: anywhere
    std::optional<QRectF> place(const QSizeF& size, const QPointF& at, const QPointF& away);

    /// Draws a text at such a place, in the painter's font. @returns whether there was one
    bool draw(QPainter& painter, const QString& text, const QPointF& at, const QPointF& away,
              const QColor& color);
    /// Draws a text where it must stand, and blocks the place.
    void drawAt(QPainter& painter, const QString& text, const QRectF& box, int alignment,
                const QColor& color);

  private:
    double cost(const QRectF& box) const;

    QRectF area_;
    std::vector<QRectF> blocked_;
    std::vector<QLineF> lines_;
};

/// How long a part of a line lies inside a box.
double lengthInside(const QLineF& line, const QRectF& box);

/// Unit vector from one point to another; zero where they are the same.
QPointF directionOf(const QPointF& from, const QPointF& to);

}  // namespace roper
