#include "ui/shell/icons.h"

#include <QPainter>
#include <QPainterPath>

#include "ui/charts/arrow.h"

namespace roper {
namespace {

/// All icons are drawn on a square of 28 units.
constexpr double kUnits = 28;

void drawRotation(QPainter& painter, const QColor& color) {
    painter.setPen(QPen(color, 1.8));
    painter.setBrush(Qt::NoBrush);
    painter.drawArc(QRectF(4, 4, 20, 20), 75 * 16, 290 * 16);
    drawArrow(painter, {14, 14}, {20.5, 6}, color, 1.8);
}

void drawTraining(QPainter& painter, const QColor& color) {
    painter.setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(QPolygonF{{4, 4}, {4, 24}, {24, 24}});
    QPainterPath curve({7, 6});
    curve.cubicTo({9, 20}, {14, 19.5}, {23, 20});
    painter.drawPath(curve);
}

}  // namespace

QIcon makePageIcon(PageIcon icon, const QPalette& palette) {
    QIcon made;
    for (const int size : {28, 42, 56}) {
        QPixmap pixmap(size, size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.scale(size / kUnits, size / kUnits);
        const QColor color = palette.color(QPalette::ButtonText);
        icon == PageIcon::rotation ? drawRotation(painter, color) : drawTraining(painter, color);
        painter.end();
        made.addPixmap(pixmap);
    }
    return made;
}

}  // namespace roper
