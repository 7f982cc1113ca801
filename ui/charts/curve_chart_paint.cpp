#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/csv_text.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/plot_style.h"
#include "ui/theme/type_scale.h"

// How a CurveChart looks, and the numbers behind it.

namespace roper {
namespace {

/// A text with its lines broken so that none is wider than `width` pixels; QCustomPlot breaks none itself.
QString wrapped(const QString& text, const QFont& font, double width) {
    const QFontMetricsF metrics(font);
    QString broken, line;
    for (const QString& word : text.split(' ')) {
        const QString longer = line.isEmpty() ? word : line + ' ' + word;
        if (line.isEmpty() || metrics.horizontalAdvance(longer) <= width) {
            line = longer;
            continue;
        }
        broken += line + '\n';
        line = word;
    }
    return broken + line;
}

/// Whether a line has a part inside a box.
bool crosses(const QLineF& line, const QRectF& box) {
    if (box.contains(line.p1()) || box.contains(line.p2())) return true;
    const QPointF corners[] = {box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft()};
    for (int i = 0; i < 4; ++i)
        if (line.intersects(QLineF(corners[i], corners[(i + 1) % 4]), nullptr) == QLineF::BoundedIntersection)
            return true;
    return false;
}

}  // namespace

void CurveChart::applyTheme(const Theme& theme, const QFont& font, double width) const {
    const QFont small = smallFont(font);
    applyPlotTheme(*plot_, theme, small);
    plot_->legend->setTextColor(theme.text);
    if (title_ != nullptr) {
        title_->setFont(boldFont(small));
        title_->setTextColor(theme.text);
        title_->setText(wrapped(title_text_, boldFont(small), width - 24));
    }
    crosshair_->setPen(QPen(theme.frame, 1, Qt::DashLine));
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = plot_->graph(static_cast<int>(i));
        // A curve that lies on another is dashed, so that both are seen.
        // A long name keeps its ends, beside the axis and the line.
        constexpr double kBeside = 120;
        graph->setName(QFontMetricsF(small).elidedText(nameInLegend(i), Qt::ElideMiddle,
                                                       std::max(width - kBeside, kBeside)));
        graph->setPen(QPen(curves_[i].color, curves_[i].strong ? 2.4 : 1.5,
                           same_as_[i] ? Qt::DashLine : Qt::SolidLine));
        graph->setScatterStyle(curves_[i].points ? QCPScatterStyle(QCPScatterStyle::ssDisc, 4)
                                                 : QCPScatterStyle(QCPScatterStyle::ssNone));
    }
    for (const auto& [curve, edges] : bands_) {
        QColor fill = curves_[curve].color;
        fill.setAlphaF(curves_[curve].envelope ? 0.35F : 0.18F);
        edges.first->setBrush(fill);
        for (QCPGraph* edge : {edges.first, edges.second})
            edge->setPen(curves_[curve].envelope ? QPen(curves_[curve].color, 1.2) : QPen(Qt::NoPen));
    }
    empty_label_->setColor(theme.faint_text);
    empty_label_->setFont(font);
    empty_label_->setText(wrapped(empty_text_, font, width - 110));
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        QCPItemStraightLine* line = mark_lines_[i];
        line->setPen(QPen(theme.faint_text, 1.2, Qt::DashLine));
        // A line is set by two points of the data; on a logarithmic axis both must be above 0.
        line->point1->setCoords(mark.across ? 1 : mark.at, mark.across ? mark.at : 1);
        line->point2->setCoords(mark.across ? 2 : mark.at, mark.across ? mark.at : 2);
        QCPItemText* text = mark_texts_[i];
        text->setFont(small);
        text->setColor(theme.faint_text);
        text->setBrush(translucent(theme.background));
        text->setPadding({4, 1, 4, 1});
    }
}

int CurveChart::partsOfCurvesIn(const QRectF& box) const {
    const auto pixel = [this](const QCPGraphData& point) {
        return QPointF(plot_->xAxis->coordToPixel(point.key), plot_->yAxis->coordToPixel(point.value));
    };
    int parts = 0;
    for (int i = 0; i < static_cast<int>(curves_.size()); ++i) {
        const auto& points = *plot_->graph(i)->data();
        for (auto point = points.constBegin(); point != points.constEnd(); ++point) {
            const bool is_last = point + 1 == points.constEnd();
            parts += crosses(QLineF(pixel(*point), pixel(is_last ? *point : *(point + 1))), box);
        }
    }
    // A band is crossed wherever its two edges have the box, or a part of it, between them.
    for (const auto& [curve, edges] : bands_) {
        const auto& upper = *edges.first->data();
        const auto& lower = *edges.second->data();
        for (int i = 0; i < std::min(upper.size(), lower.size()); ++i)
            parts += crosses(QLineF(pixel(*upper.at(i)), pixel(*lower.at(i))), box);
    }
    return parts;
}

void CurveChart::placeMarkLabels() const {
    constexpr double kAlong[] = {0, 1, 0.5, 0.25, 0.75};  // of the line, in the order in which they are liked
    constexpr double kFromLine = 2;                       // pixels
    const QRectF inside = plot_->axisRect()->rect();
    std::vector<QRectF> taken;
    if (plot_->legend->visible()) taken.push_back(plot_->legend->outerRect());
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        QCPItemText* text = mark_texts_[i];
        text->setText({});
        if (mark.label.isEmpty()) continue;
        const QMarginsF padding(text->padding());
        const QSizeF size = QFontMetricsF(text->font()).size(0, mark.label).grownBy(padding);
        const double line =
            mark.across ? plot_->yAxis->coordToPixel(mark.at) : plot_->xAxis->coordToPixel(mark.at);
        std::optional<QRectF> best;
        int fewest = std::numeric_limits<int>::max();
        for (const double along : kAlong) {
            // Above or left of the line first, then below or right of it.
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
                const int parts = partsOfCurvesIn(box);
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

void CurveChart::paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                 const Theme& theme) const {
    applyTheme(theme, painter.font(), area.width());
    const bool crosshair_shown = crosshair_->visible();
    crosshair_->setVisible(false);
    plot_->legend->setVisible(legend);
    paintPlot(*plot_, painter, area);
    plot_->legend->setVisible(hasLegend());
    crosshair_->setVisible(crosshair_shown);
    applyOwnTheme();
}

QString CurveChart::figureCsv() const {
    const auto plain = [](QString name) { return name.remove(',').replace(' ', '_'); };
    const bool has_bands =
        std::any_of(curves_.begin(), curves_.end(), [](const Curve& curve) { return !curve.low.isEmpty(); });
    QString csv =
        QStringLiteral("curve,%1,%2%3\n")
            .arg(plain(x_name_), plain(y_name_), has_bands ? QStringLiteral(",low,high") : QString());
    for (const Curve& curve : curves_) {
        for (qsizetype i = 0; i < curve.x.size(); ++i) {
            csv += quoted(curve.key);
            QList<double> numbers{curve.x[i], curve.y[i]};
            if (!curve.low.isEmpty()) numbers << curve.low[i] << curve.high[i];
            for (const double number : numbers)
                csv += ',' + QString::number(number, 'g', 17);
            if (has_bands && curve.low.isEmpty()) csv += QStringLiteral(",,");
            csv += '\n';
        }
    }
    return csv;
}

}  // namespace roper
