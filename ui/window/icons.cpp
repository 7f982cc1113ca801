#include "ui/window/page_set.h"

#include <QPainter>
#include <QPainterPath>
#include <cmath>

#include "ui/charts/drawing.h"

namespace roper {
namespace {

/// All icons are drawn on a square of 28 units, initially with a round pen in their color and no brush.
constexpr double kUnits = 28;

void drawRotation(QPainter& painter, const QColor& color) {
    painter.setPen(QPen(color, 1.8));
    painter.drawArc(QRectF(4, 4, 20, 20), 75 * 16, 290 * 16);
    drawArrow(painter, {14, 14}, {20.5, 6}, color, 1.8);
}

/// Waves, from fast to slow.
void drawSpectrum(QPainter& painter, const QColor&) {
    for (const auto& [y, periods] : {std::pair{7.0, 4.0}, {14.0, 2.0}, {21.0, 1.0}}) {
        QPolygonF wave;
        for (int i = 0; i <= 60; ++i)
            wave << QPointF(3 + 22.0 * i / 60, y - 2.6 * std::sin(2 * M_PI * periods * i / 60));
        painter.drawPolyline(wave);
    }
}

/// A causal attention map.
void drawAttention(QPainter& painter, const QColor& color) {
    painter.setPen(Qt::NoPen);
    constexpr double kWeights[4][4] = {
        {1, 0, 0, 0}, {0.5, 0.9, 0, 0}, {0.25, 0.6, 1, 0}, {0.8, 0.2, 0.45, 0.7}};
    for (int row = 0; row < 4; ++row) {
        for (int column = 0; column <= row; ++column) {
            QColor shade = color;
            shade.setAlphaF(static_cast<float>(kWeights[row][column]));
            painter.setBrush(shade);
            painter.drawRect(QRectF(4 + 5.2 * column, 4 + 5.2 * row, 4.4, 4.4));
        }
    }
}

/// Arrows head to tail, and their sum.
void drawMixing(QPainter& painter, const QColor& color) {
    drawArrow(painter, {4, 23}, {9, 13}, color, 1.4);
    drawArrow(painter, {9, 13}, {18, 11}, color, 1.4);
    drawArrow(painter, {18, 11}, {24, 4}, color, 1.4);
    drawArrow(painter, {4, 23}, {23, 7}, color, 2.2);
}

void drawTraining(QPainter& painter, const QColor&) {
    painter.drawPolyline(QPolygonF{{4, 4}, {4, 24}, {24, 24}});
    QPainterPath curve({7, 6});
    curve.cubicTo({9, 20}, {14, 19.5}, {23, 20});
    painter.drawPath(curve);
}

/// Two means with their confidence intervals.
void drawCompare(QPainter& painter, const QColor& color) {
    painter.setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap));
    painter.setBrush(color);
    painter.drawLine(QPointF(4, 24), QPointF(24, 24));
    for (const auto& [x, low, high, mean] : {std::tuple{9.5, 20.0, 10.0, 15.0}, {18.5, 13.0, 4.0, 8.0}}) {
        painter.drawLine(QPointF(x, low), QPointF(x, high));
        painter.drawEllipse(QPointF(x, mean), 2.6, 2.6);
    }
}

/// A magnifying glass over a small map.
void drawInspect(QPainter& painter, const QColor& color) {
    painter.setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap));
    painter.drawEllipse(QPointF(12, 12), 8, 8);
    painter.drawLine(QPointF(18, 18), QPointF(24.5, 24.5));
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    for (const auto& [x, y] : {std::pair{8.5, 8.5}, {8.5, 13.0}, {13.0, 13.0}})
        painter.drawRect(QRectF(x, y, 3.4, 3.4));
}

/// In the order of PageSet::pages.
constexpr void (*kDraw[])(QPainter&, const QColor&) = {drawRotation, drawSpectrum, drawAttention, drawMixing,
                                                       drawTraining, drawCompare,  drawInspect};

}  // namespace

QIcon makePageIcon(std::size_t page, const QPalette& palette) {
    QIcon made;
    for (const int size : {28, 42, 56, 70, 140}) {
        QPixmap pixmap(size, size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.scale(size / kUnits, size / kUnits);
        const QColor color = palette.color(QPalette::ButtonText);
        painter.setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.setBrush(Qt::NoBrush);
        kDraw[page](painter, color);
        painter.end();
        made.addPixmap(pixmap);
    }
    return made;
}

}  // namespace roper
