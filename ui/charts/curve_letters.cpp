#include "ui/charts/curve_letters.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace roper {
namespace {

/// Where a curve passes an x, in pixels; the nearest of its ends where it does not reach it. Nothing where
/// it has no number there.
std::optional<QPointF> pointAt(const QCPGraph& graph, double x) {
    const QCPGraphDataContainer& points = *graph.data();
    if (points.isEmpty()) return std::nullopt;
    const auto pixel = [&](const QCPGraphData& point) {
        return graph.coordsToPixels(point.key, point.value);
    };
    const auto begin = points.constBegin(), last = points.constEnd() - 1;
    const double key = std::clamp(graph.keyAxis()->pixelToCoord(x), begin->key, last->key);
    auto after = points.findBegin(key, false);
    if (after > last) after = last;
    const auto before = after == begin ? begin : after - 1;
    const QPointF from = pixel(*before), to = pixel(*after);
    const double at = graph.keyAxis()->coordToPixel(key);
    const double share = to.x() > from.x() ? (at - from.x()) / (to.x() - from.x()) : 1;
    const QPointF point(at, from.y() + share * (to.y() - from.y()));
    return std::isfinite(point.y()) ? std::optional(point) : std::nullopt;
}

}  // namespace

CurveLetters::CurveLetters(QCustomPlot& plot) : QCPAbstractItem(&plot) {
    setLayer(QStringLiteral("axes"));  // over all curves
    setClipAxisRect(plot.axisRect());
    setSelectable(false);
}

void CurveLetters::setLetters(std::vector<Letter> letters) {
    letters_ = std::move(letters);
}

void CurveLetters::setLook(const QFont& font, const QColor& text, const QColor& background) {
    font_ = font;
    font_.setBold(true);
    text_ = text;
    background_ = background;
}

QString CurveLetters::letter(int number) {
    constexpr int kLetters = 26;
    const QString last(QChar('A' + number % kLetters));
    return number < kLetters ? last : letter(number / kLetters - 1) + last;
}

void CurveLetters::draw(QCPPainter* painter) {
    constexpr double kApart = 46;  // pixels from one letter to the next, at least
    QStringList texts;
    for (const Letter& letter : letters_)
        if (!texts.contains(letter.text)) texts << letter.text;
    if (texts.isEmpty()) return;
    const QRectF area = mParentPlot->axisRect()->rect();
    double left = area.right(), right = area.left();  // of what the curves reach
    for (const Letter& letter : letters_) {
        const QCPGraphDataContainer& points = *letter.graph->data();
        if (!letter.graph->visible() || points.isEmpty()) continue;
        const auto pixel = [&](const QCPGraphData& point) {
            return letter.graph->keyAxis()->coordToPixel(point.key);
        };
        left = std::min(left, pixel(*points.constBegin()));
        right = std::max(right, pixel(*(points.constEnd() - 1)));
    }
    left = std::max(left, area.left());
    right = std::min(right, area.right());
    if (left > right) return;
    const QFontMetricsF metrics(font_);
    const auto count = static_cast<double>(texts.size());
    const int times = std::max(1, static_cast<int>((right - left) / (count * kApart)));
    painter->setFont(font_);
    for (const Letter& letter : letters_) {
        if (!letter.graph->visible()) continue;
        const double width = std::max(metrics.horizontalAdvance(letter.text), metrics.height() * 0.7);
        const QSizeF size(width + 4, metrics.height());
        for (int time = 0; time < times; ++time) {
            const double place = static_cast<double>(texts.indexOf(letter.text)) + 0.5 + count * time;
            const auto at = pointAt(*letter.graph, left + (right - left) * place / (count * times));
            if (!at || !area.contains(*at)) continue;
            QRectF box(QPointF(), size);
            box.moveCenter(*at);
            // Whole, also where its curve runs along the edge.
            box.moveLeft(std::clamp(box.left(), area.left(), area.right() - box.width()));
            box.moveTop(std::clamp(box.top(), area.top(), area.bottom() - box.height()));
            painter->setPen(QPen(letter.color, 1.4));
            painter->setBrush(background_);
            painter->drawRoundedRect(box, 4, 4);
            painter->setPen(text_);
            painter->drawText(box, Qt::AlignCenter | Qt::TextDontClip, letter.text);
        }
    }
}

}  // namespace roper
