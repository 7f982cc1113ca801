#include <cmath>
#include <limits>

#include "ui/charts/csv_text.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/plot_style.h"

// How a CurveChart looks, and the numbers behind it.

namespace roper {

void CurveChart::applyTheme(const Theme& theme) const {
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.9);
    applyPlotTheme(*plot_, theme, small);
    plot_->legend->setTextColor(theme.text);
    crosshair_->setPen(QPen(theme.frame, 1, Qt::DashLine));
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = plot_->graph(static_cast<int>(i));
        graph->setPen(QPen(curves_[i].color, curves_[i].strong ? 2.4 : 1.5));
        graph->setScatterStyle(curves_[i].points ? QCPScatterStyle(QCPScatterStyle::ssDisc, 4)
                                                 : QCPScatterStyle(QCPScatterStyle::ssNone));
    }
    std::size_t band = 0;
    for (const Curve& curve : curves_) {
        if (curve.low.isEmpty()) continue;
        QColor fill = curve.color;
        fill.setAlphaF(0.18F);
        bands_[band++].first->setBrush(fill);
    }
    empty_label_->setColor(theme.faint_text);
    empty_label_->setFont(font());
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        const Mark& mark = marks_[i];
        QCPItemStraightLine* line = mark_lines_[i];
        line->setPen(QPen(theme.faint_text, 1.2, Qt::DashLine));
        // A line is set by two points of the data; on a logarithmic axis both must be above 0.
        line->point1->setCoords(mark.across ? 1 : mark.at, mark.across ? mark.at : 1);
        line->point2->setCoords(mark.across ? 2 : mark.at, mark.across ? mark.at : 2);
        QCPItemText* text = mark_texts_[i];
        text->setText(mark.label);
        text->setFont(small);
        text->setColor(theme.faint_text);
        if (mark.across) {
            text->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
            text->position->setTypeY(QCPItemPosition::ptPlotCoords);
            text->position->setCoords(0.01, mark.at);
            text->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
        } else {
            text->position->setTypeX(QCPItemPosition::ptPlotCoords);
            text->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
            text->position->setCoords(mark.at, 0.99);
            text->setPositionAlignment((isNearStart(mark.at) ? Qt::AlignLeft : Qt::AlignRight) |
                                       Qt::AlignBottom);
        }
        text->setPadding({4, 1, 4, 1});
    }
}

/// Whether a label left of x would be cut off: x lies in the first fifth of the curves.
bool CurveChart::isNearStart(double x) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Curve& curve : curves_) {
        for (const double at : curve.x) {
            if (log_x_ && at <= 0) continue;
            low = std::min(low, at);
            high = std::max(high, at);
        }
    }
    const auto place = [this](double at) { return log_x_ ? std::log(at) : at; };
    return low < high && x > low - 1 &&
           place(std::max(x, low)) - place(low) < 0.2 * (place(high) - place(low));
}

void CurveChart::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    applyTheme(theme);
    const bool crosshair_shown = crosshair_->visible();
    crosshair_->setVisible(false);
    paintPlot(*plot_, painter, area);
    crosshair_->setVisible(crosshair_shown);
    applyTheme(Theme::of(palette()));
}

QString CurveChart::figureCsv() const {
    const auto plain = [](QString name) { return name.remove(',').replace(' ', '_'); };
    const bool has_bands = !bands_.empty();
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
