#include "ui/charts/drawing.h"

#include <array>
#include <cmath>

#include "ui/theme/theme.h"

namespace roper {

void drawArrowHead(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color,
                   double size) {
    const double angle = std::atan2(to.y() - from.y(), to.x() - from.x());
    const auto corner = [&](double turn) {
        return to - size * QPointF(std::cos(angle + turn), std::sin(angle + turn));
    };
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF{to, corner(0.42), corner(-0.42)});
}

void drawArrow(QPainter& painter, const QPointF& from, const QPointF& to, const QColor& color, double width) {
    const double length = std::hypot(to.x() - from.x(), to.y() - from.y());
    const double head = std::min(4.5 * width, 0.6 * length);
    if (length < 2) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawEllipse(to, width, width);
        return;
    }
    painter.setPen(QPen(color, width, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(from, to - (to - from) * (0.8 * head / length));
    drawArrowHead(painter, from, to, color, head);
}

QColor textColorOn(const QColor& fill) {
    return contrast(Qt::black, fill) >= contrast(Qt::white, fill) ? Qt::black : Qt::white;
}

QColor translucent(QColor color) {
    color.setAlpha(200);
    return color;
}

Qt::PenStyle dashOf(int number) {
    constexpr std::array kDashes = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine,
                                    Qt::DashDotDotLine};
    return kDashes[static_cast<std::size_t>(number) % kDashes.size()];
}

}  // namespace roper
