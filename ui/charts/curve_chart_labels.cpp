#include <algorithm>
#include <limits>

#include "ui/charts/curve_chart.h"
#include "ui/charts/label_placer.h"

// Text in a CurveChart: the legend and the labels of marks.

namespace roper {
namespace {

/// Whether a part of a line lies inside a box.
bool crosses(const QLineF& line, const QRectF& box) {
    return box.contains(line.p1()) || lengthInside(line, box) > 0;
}

}  // namespace

/// Compares only curves that have legend entries; curves with their own letters are distinguishable anyway.
void CurveChart::findCoincidingCurves() {
    coincides_with_.assign(curves_.size(), std::nullopt);
    for (std::size_t curve = 0; curve < curves_.size(); ++curve)
        for (std::size_t other = 0; other < curve && !coincides_with_[curve]; ++other)
            if (curves_[curve].in_legend && curves_[curve].letter.isEmpty() && curves_[other].in_legend &&
                curves_[other].x == curves_[curve].x && curves_[other].y == curves_[curve].y)
                coincides_with_[curve] = other;
}

int CurveChart::coincidingCount(std::size_t curve) const {
    return static_cast<int>(std::count(coincides_with_.begin(), coincides_with_.end(), curve));
}

bool CurveChart::hasLegendLine(std::size_t curve) const {
    const bool shares_one =
        coincides_with_[curve] && coincidingCount(*coincides_with_[curve]) >= kMinCoinciding;
    return curves_[curve].in_legend && !shares_one;
}

QString CurveChart::nameInLegend(std::size_t curve) const {
    const QString& label = curves_[curve].label;
    const int others = coincidingCount(curve);
    if (others >= kMinCoinciding) return tr("%1 and %2 others, identical").arg(label).arg(others);
    return coincides_with_[curve] ? tr("%1 (same as %2)").arg(label, curves_[*coincides_with_[curve]].label)
                                  : label;
}

double CurveChart::legendHeadroom(const Canvas& canvas) const {
    constexpr double kMaxHeight = 0.45;  // maximum height relative to the axes
    constexpr double kPadding = 12;
    if (curves_.size() <= 2 || y_limits_ || legend().isBelow()) return 0;
    const double line = QFontMetricsF(axisFont(canvas.font)).height();
    const double around = (title_ != nullptr ? 5 : 3) * line;  // title, axis and ticks
    const double entries = plot().legend->itemCount() * line + kPadding;
    const double share = std::min(kMaxHeight, entries / std::max(canvas.size.height() - around, entries));
    return share / (1 - share);
}

int CurveChart::curveSegmentsIn(const QRectF& box) const {
    const auto pixel = [this](const QCPGraphData& point) {
        return QPointF(plot().xAxis->coordToPixel(point.key), plot().yAxis->coordToPixel(point.value));
    };
    int parts = 0;
    for (int i = 0; i < static_cast<int>(curves_.size()); ++i) {
        if (!plot().graph(i)->visible()) continue;
        const auto& points = *plot().graph(i)->data();
        for (auto point = points.constBegin(); point != points.constEnd(); ++point) {
            const bool is_last = point + 1 == points.constEnd();
            parts += crosses(QLineF(pixel(*point), pixel(is_last ? *point : *(point + 1))), box);
        }
    }
    // A band counts as crossed if its two edges enclose the box or a part of it.
    for (const auto& [curve, edges] : bands_) {
        if (!edges.first->visible()) continue;
        const auto& upper = *edges.first->data();
        const auto& lower = *edges.second->data();
        for (int i = 0; i < std::min(upper.size(), lower.size()); ++i)
            parts += crosses(QLineF(pixel(*upper.at(i)), pixel(*lower.at(i))), box);
    }
    return parts;
}

void CurveChart::placeMarkLabels() const {
    constexpr double kAlong[] = {0, 1, 0.5, 0.25, 0.75};  // positions along the line, in order of preference
    constexpr double kFromLine = 2;                       // pixels
    const QRectF inside = plot().axisRect()->rect();
    std::vector<QRectF> taken;
    if (plot().legend->visible()) taken.push_back(plot().legend->outerRect());
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        QCPItemText* text = mark_texts_[i];
        text->setText({});
        if (mark.label.isEmpty()) continue;
        const QMarginsF padding(text->padding());
        const QSizeF size = QFontMetricsF(text->font()).size(0, mark.label).grownBy(padding);
        const double line =
            mark.across ? plot().yAxis->coordToPixel(mark.at) : plot().xAxis->coordToPixel(mark.at);
        std::optional<QRectF> best;
        int fewest = std::numeric_limits<int>::max();
        for (const double along : kAlong) {
            if (fewest == 0) break;  // the position cannot be improved; this code runs at every replot
            // First above or left of the line, then below or right of it.
            for (const bool before : {true, false}) {
                const double edge = before ? line - kFromLine - (mark.across ? size.height() : size.width())
                                           : line + kFromLine;
                const QPointF corner =
                    mark.across ? QPointF(inside.left() + along * (inside.width() - size.width()), edge)
                                : QPointF(edge, inside.bottom() - size.height() -
                                                    along * (inside.height() - size.height()));
                const QRectF box(corner, size);
                const bool is_taken = std::any_of(taken.begin(), taken.end(),
                                                  [&](const QRectF& other) { return other.intersects(box); });
                if (is_taken || !inside.contains(box)) continue;
                const int parts = curveSegmentsIn(box);
                if (parts >= fewest) continue;
                fewest = parts;
                best = box;
            }
        }
        if (!best) continue;
        text->setText(mark.label);
        text->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
        text->position->setType(QCPItemPosition::ptAbsolute);
        text->position->setCoords(best->topLeft());
        taken.push_back(*best);
    }
}

}  // namespace roper
