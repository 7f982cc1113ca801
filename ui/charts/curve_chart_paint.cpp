#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/csv_text.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/drawing.h"
#include "ui/charts/label_placer.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/zoom.h"

// The look of a CurveChart, its text (the legend and the labels of marks), and its exported data.

namespace roper {
namespace {

/// Whether a part of a line lies inside a box.
bool crosses(const QLineF& line, const QRectF& box) {
    return box.contains(line.p1()) || lengthInside(line, box) > 0;
}

}  // namespace

void CurveChart::applyStyle(const Canvas& canvas) const {
    const QFont small = axisFont(canvas.font);
    if (title_ != nullptr) {
        title_->setFont(boldFont(small));
        title_->setTextColor(canvas.theme.text);
        title_->setText(wrapped(title_text_, QFontMetricsF(boldFont(small)), canvas.size.width() - 24));
    }
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[i];
        QCPGraph* graph = graphOf(i);
        graph->setVisible(isCurveVisible(curve.key));
        // A curve that coincides with another is dashed, so that both are visible.
        graph->setPen(QPen(canvas.theme.visible(curve.color), curve.bold ? 2.4 : 1.5,
                           coincides_with_[i] && curve.dash == 0 ? Qt::DashLine : dashOf(curve.dash)));
        graph->setScatterStyle(curve.points ? QCPScatterStyle(QCPScatterStyle::ssDisc, 4)
                                            : QCPScatterStyle(QCPScatterStyle::ssNone));
    }
    // The more bands there are, the paler they are, so that overlapping ones remain distinguishable.
    constexpr float kFew = 4, kBand = 0.18F;
    const float band = kBand * std::min(1.0F, kFew / static_cast<float>(bands_.size()));
    for (const auto& [of, edges] : bands_) {
        const Curve& curve = curves_[of];
        QColor fill = curve.color;
        fill.setAlphaF(curve.envelope ? 0.35F : band);
        edges.first->setBrush(fill);
        for (QCPGraph* edge : {edges.first, edges.second}) {
            edge->setVisible(isCurveVisible(curve.key));
            edge->setPen(curve.envelope ? QPen(curve.color, 1.2) : QPen(Qt::NoPen));
        }
    }
    applyMarkLook(canvas.theme, small);
}

void CurveChart::applyMarkLook(const Theme& theme, const QFont& font) const {
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        QCPItemStraightLine* line = mark_lines_[i];
        line->setPen(QPen(theme.faint_text, 1.2, Qt::DashLine));
        // A line is defined by two points; on a logarithmic axis both must be positive.
        line->point1->setCoords(mark.across ? 1 : mark.at, mark.across ? mark.at : 1);
        line->point2->setCoords(mark.across ? 2 : mark.at, mark.across ? mark.at : 2);
        QCPItemText* text = mark_texts_[i];
        text->setFont(font);
        text->setColor(theme.faint_text);
        text->setBrush(translucent(theme.background));
        text->setPadding({4, 1, 4, 1});
    }
}

void CurveChart::fillLegend(const Canvas& canvas) const {
    std::vector<PlotLegend::Entry> entries;
    std::vector<CurveLetters::Letter> on_curves;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[i];
        const QColor text = isCurveVisible(curve.key) ? canvas.theme.text : canvas.theme.frame;
        if (hasLegendLine(i)) entries.push_back({graphOf(i), nameInLegend(i), text, curve.letter_label});
        if (!curve.letter_label.isEmpty())
            on_curves.push_back({graphOf(i), curve.letter_label, canvas.theme.visible(curve.color)});
    }
    legend().fill(entries, canvas.legend ? legend_position_ : PlotLegend::Place::hidden,
                  axisFont(canvas.font), canvas.size);
    letters().setLetters(std::move(on_curves));
}

QString CurveChart::figureCaption() const {
    QStringList captions{caption_};
    for (std::size_t curve = 0; curve < curves_.size(); ++curve) {
        QStringList same;
        for (std::size_t other = 0; other < curves_.size(); ++other)
            if (coincides_with_[other] == curve) same << curves_[other].label;
        if (same.size() >= kMinCoinciding)
            captions << tr("Same as %1: %2").arg(curves_[curve].label, same.join(QStringLiteral(", ")));
    }
    QStringList letters;
    for (const Curve& curve : curves_)
        if (!curve.letter_label.isEmpty() && isCurveVisible(curve.key))
            letters << CurveLetters::labeled(curve.letter_label, curve.label).simplified();
    if (!letters.isEmpty()) captions << letters.join(QStringLiteral("; "));
    return captions.join(QStringLiteral(". "));
}

QString CurveChart::figureCsv() const {
    const bool has_bands =
        std::ranges::any_of(curves_, [](const Curve& curve) { return !curve.low.isEmpty(); });
    CsvText csv(QStringLiteral("curve,%1,%2%3")
                    .arg(columnName(xName()), columnName(yName()),
                         has_bands ? QStringLiteral(",low,high") : QString()));
    for (const Curve& curve : curves_) {
        const auto edge = [](const QVector<double>& of, qsizetype i) {
            return of.isEmpty() ? std::nullopt : std::optional(of[i]);
        };
        for (qsizetype i = 0; isCurveVisible(curve.key) && i < curve.x.size(); ++i) {
            if (has_bands)
                csv.line(curve.key, curve.x[i], curve.y[i], edge(curve.low, i), edge(curve.high, i));
            else
                csv.line(curve.key, curve.x[i], curve.y[i]);
        }
    }
    return csv.text();
}

namespace {

/// Whether curves are the same but for rounding to single precision.
bool coincide(const QVector<double>& a, const QVector<double>& b) {
    constexpr double kRounding = 1e-6;
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
               return x == y || std::abs(x - y) <= kRounding * std::max(std::abs(x), std::abs(y));
           });
}

}  // namespace

/// Compares only curves that have legend entries; curves with their own letters are distinguishable anyway.
void CurveChart::findCoincidingCurves() {
    coincides_with_.assign(curves_.size(), std::nullopt);
    for (std::size_t curve = 0; curve < curves_.size(); ++curve)
        for (std::size_t other = 0; other < curve && !coincides_with_[curve]; ++other)
            if (curves_[curve].in_legend && curves_[curve].letter_label.isEmpty() &&
                curves_[other].in_legend && curves_[other].x == curves_[curve].x &&
                coincide(curves_[other].y, curves_[curve].y))
                coincides_with_[curve] = other;
}

int CurveChart::coincidingCount(std::size_t curve) const {
    return static_cast<int>(std::ranges::count(coincides_with_, curve));
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
    if (curves_.size() <= 2 || y_limits_ || fullYRange() || legend().isBelow()) return 0;
    const double line = QFontMetricsF(axisFont(canvas.font)).height();
    const double around = (title_ != nullptr ? 5 : 3) * line;  // title, axis and ticks
    const double entries = plot().legend->itemCount() * line + kPadding;
    const double fraction = std::min(kMaxHeight, entries / std::max(canvas.size.height() - around, entries));
    return fraction / (1 - fraction);
}

int CurveChart::curveSegmentsIn(const QRectF& box) const {
    const auto pixel = [this](const QCPGraphData& point) {
        return QPointF(plot().xAxis->coordToPixel(point.key), plot().yAxis->coordToPixel(point.value));
    };
    int crossings = 0;
    for (int i = 0; i < static_cast<int>(curves_.size()); ++i) {
        if (!plot().graph(i)->visible()) continue;
        const auto& points = *plot().graph(i)->data();
        for (auto point = points.constBegin(); point != points.constEnd(); ++point) {
            const bool is_last = point + 1 == points.constEnd();
            crossings += crosses(QLineF(pixel(*point), pixel(is_last ? *point : *(point + 1))), box);
        }
    }
    // A band crosses the box if it covers any of it.
    for (const auto& [curve, edges] : bands_) {
        if (!edges.first->visible()) continue;
        const auto& upper = *edges.first->data();
        const auto& lower = *edges.second->data();
        for (int i = 0; i < std::min(upper.size(), lower.size()); ++i)
            crossings += crosses(QLineF(pixel(*upper.at(i)), pixel(*lower.at(i))), box);
    }
    return crossings;
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
                const bool is_taken =
                    std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(box); });
                if (is_taken || !inside.contains(box)) continue;
                const int crossings = curveSegmentsIn(box);
                if (crossings >= fewest) continue;
                fewest = crossings;
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
