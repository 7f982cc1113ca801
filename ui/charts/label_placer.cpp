#include "ui/charts/label_placer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "ui/charts/drawing.h"

namespace roper {
namespace {

constexpr double kLabelGap = 2;  // minimum distance between labels, pixels

}  // namespace

/// Liang–Barsky clipping of a segment.
double lengthInside(const QLineF& line, const QRectF& box) {
    double from = 0, to = 1;
    const double dx = line.dx(), dy = line.dy();
    const double sides[4][2] = {{-dx, line.x1() - box.left()},
                                {dx, box.right() - line.x1()},
                                {-dy, line.y1() - box.top()},
                                {dy, box.bottom() - line.y1()}};
    for (const auto& [speed, room] : sides) {
        if (speed == 0) {
            if (room < 0) return 0;
        } else if (speed < 0) {
            from = std::max(from, room / speed);
        } else {
            to = std::min(to, room / speed);
        }
    }
    return from < to ? (to - from) * line.length() : 0;
}

QPointF directionOf(const QPointF& from, const QPointF& to) {
    const double length = std::hypot(to.x() - from.x(), to.y() - from.y());
    return length > 0 ? (to - from) / length : QPointF();
}

/// Infinite if the box leaves the area or covers another label; otherwise the length of covered lines.
double LabelPlacer::cost(const QRectF& box) const {
    if (!area_.contains(box)) return std::numeric_limits<double>::infinity();
    const QRectF wide = box.adjusted(-kLabelGap, -kLabelGap, kLabelGap, kLabelGap);
    for (const QRectF& other : blocked_)
        if (other.intersects(wide)) return std::numeric_limits<double>::infinity();
    double covered = 0;
    for (const QLineF& line : lines_)
        covered += lengthInside(line, box);
    return covered;
}

std::optional<QRectF> LabelPlacer::place(const QSizeF& size, const QPointF& at, const QPointF& away) {
    constexpr double kGaps[] = {5, 10, 18, 30, 46};
    constexpr int kTurns = 8;  // to each side, in steps of 22.5°
    const double wanted = std::atan2(away.y(), away.x());
    std::optional<QRectF> best;
    double least = std::numeric_limits<double>::infinity();
    for (const double gap : kGaps) {
        for (int turn = 0; turn <= 2 * kTurns; ++turn) {
            // 0, 1, −1, 2, −2, …
            const int steps = (turn + 1) / 2 * (turn % 2 == 1 ? 1 : -1);
            const double angle = wanted + steps * std::numbers::pi / kTurns;
            const QPointF direction(std::cos(angle), std::sin(angle));
            // The box touches a circle of radius `gap` around the point.
            const QPointF center(at.x() + direction.x() * (gap + size.width() / 2),
                                 at.y() + direction.y() * (gap + size.height() / 2));
            const QRectF box(center.x() - size.width() / 2, center.y() - size.height() / 2, size.width(),
                             size.height());
            // Distance and angle cost a little, covered lines much more.
            const double total = cost(box) * 4 + gap + 3 * std::abs(steps);
            if (total < least) {
                least = total;
                best = box;
            }
        }
    }
    if (best) block(*best);
    return best;
}

void LabelPlacer::draw(QPainter& painter, const QString& text, const QPointF& at, const QPointF& away,
                       const QColor& color) {
    const QSizeF size = painter.fontMetrics().size(Qt::TextSingleLine, text);
    if (const auto box = place(size, at, away))
        drawColoredText(painter, *box, Qt::AlignCenter | Qt::TextDontClip, text, color);
}

void LabelPlacer::drawAt(QPainter& painter, const QString& text, const QRectF& box, int alignment,
                         const QColor& color) {
    QRectF filled;
    painter.setPen(color);
    painter.drawText(box, alignment, text, &filled);
    block(filled);
}

std::vector<double> beeswarm(const std::vector<double>& along, double diameter, double reach) {
    // 0, then steps of half a diameter to both sides.
    std::vector<double> offsets{0};
    for (double offset = diameter / 2; offset <= reach; offset += diameter / 2)
        offsets.insert(offsets.end(), {offset, -offset});
    std::vector<std::size_t> order(along.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return along[a] < along[b]; });
    std::vector<double> across(along.size());
    for (std::size_t placed = 0; placed < order.size(); ++placed) {
        const std::size_t dot = order[placed];
        double farthest = -1;
        for (const double offset : offsets) {
            double nearest = std::numeric_limits<double>::infinity();
            for (std::size_t i = placed; i > 0 && along[dot] - along[order[i - 1]] < diameter; --i)
                nearest = std::min(
                    nearest, std::hypot(along[dot] - along[order[i - 1]], offset - across[order[i - 1]]));
            // If no offset is free, the one farthest from other dots is used.
            if (nearest <= farthest) continue;
            farthest = nearest;
            across[dot] = offset;
            if (nearest >= diameter) break;
        }
    }
    return across;
}

}  // namespace roper
