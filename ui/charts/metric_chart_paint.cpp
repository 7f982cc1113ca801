#include <QScopedValueRollback>
#include <cmath>
#include <limits>

#include "ui/charts/csv_text.h"
#include "ui/charts/metric_chart.h"
#include "ui/charts/plot_style.h"

// How a MetricChart looks: ranges, curves, colours, and the picture that is exported.

namespace roper {
namespace {

constexpr std::size_t kColumnsAPixel = 6;  // of a picture that is exported
constexpr double kMargin = 0.04;           // of the range, left free above and below

}  // namespace

/// The ranges that show every shown point; on a logarithmic axis only what is above 0.
void MetricChart::fitAxes() {
    const QScopedValueRollback fitting(fitting_, true);
    double x_low = std::numeric_limits<double>::infinity(), x_high = -x_low, y_low = x_low, y_high = -x_low;
    for (const auto& [key, series] : series_) {
        if (!series.shown || series.raw.empty()) continue;
        const double first = log_x_ ? std::max(series.raw.x().front(), 1e-3) : series.raw.x().front();
        x_low = std::min(x_low, first);
        x_high = std::max(x_high, series.raw.x().back());
        const MinMaxPyramid::Range range = series.raw.range(first, x_high);
        y_low = std::min(y_low, range.low);
        y_high = std::max(y_high, range.high);
        if (series.reference_line != nullptr) y_low = std::min(y_low, series.reference);
    }
    if (!(x_low <= x_high)) x_low = log_x_ ? 1 : 0, x_high = 100;
    if (!(y_low <= y_high)) y_low = log_y_ ? 0.1 : 0, y_high = 1;
    if (x_low == x_high) x_high = x_low + 1;
    if (log_y_) {
        y_low = std::max(y_low, y_high * 1e-9);
        const double stretch = std::pow(std::max(y_high / y_low, 1.01), kMargin);
        plot_->yAxis->setRange(y_low / stretch, y_high * stretch);
    } else {
        const double margin = std::max((y_high - y_low) * kMargin, 1e-9);
        plot_->yAxis->setRange(y_low - margin, y_high + margin);
    }
    plot_->xAxis->setRange(x_low, x_high);
}

std::size_t MetricChart::screenColumns() const {
    return static_cast<std::size_t>(std::max(64, plot_->axisRect()->width()));
}

/// At most `columns` columns of points for the range that is shown.
void MetricChart::fillGraphs(std::size_t columns) const {
    const QCPRange range = plot_->xAxis->range();
    std::vector<double> xs, ys;
    const auto fill = [&](QCPGraph* graph, const MinMaxPyramid& pyramid, bool visible) {
        graph->setVisible(visible);
        if (!visible) return;
        pyramid.collect(range.lower, range.upper, columns, xs, ys);
        graph->setData(QVector<double>(xs.begin(), xs.end()), QVector<double>(ys.begin(), ys.end()), true);
    };
    for (const auto& [key, series] : series_) {
        // A hidden series keeps its legend entry, or it could not be shown again.
        fill(series.raw_graph, series.raw, series.shown && smoothing_ > 0);
        fill(series.smooth_graph, series.smooth, series.shown);
        const std::vector<double>& marks = series.raw.notFinite();
        series.mark_graph->setVisible(series.shown);
        series.mark_graph->setData(
            QVector<double>(marks.begin(), marks.end()),
            QVector<double>(static_cast<qsizetype>(marks.size()), plot_->yAxis->range().upper), true);
        if (series.smooth_graph->data()->size() <= 1)
            series.smooth_graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, 5));
        else
            series.smooth_graph->setScatterStyle(QCPScatterStyle::ssNone);
    }
}

void MetricChart::applyPens(const Series& series, const Theme& theme) const {
    // A pen wider than 1 needs the fast hint, or QCustomPlot's lines take seconds; the raw curve has neither.
    series.raw_graph->setPen(QPen(theme.faded(series.color, 0.35), 1));
    series.raw_graph->setAntialiased(false);
    series.smooth_graph->setPen(QPen(series.color, 2));
    if (series.reference_line != nullptr) {
        series.reference_line->setVisible(series.shown);
        series.reference_line->setPen(QPen(theme.faded(series.color, 0.8), 1.2, Qt::DashLine));
        series.reference_line->point1->setCoords(0, series.reference);
        series.reference_line->point2->setCoords(1, series.reference);
    }
    series.mark_graph->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCross, QPen(series.color, 3), QBrush(), 12));
}

void MetricChart::applyTheme(const Theme& theme, const QFont& font) const {
    applyPlotTheme(*plot_, theme, font);
    plot_->xAxis->setLabel(acrossName());
    empty_label_->setColor(theme.faint_text);
    empty_label_->setFont(font);
    crosshair_->setPen(QPen(theme.frame, 1, Qt::DashLine));
    for (const auto& [key, series] : series_) {
        applyPens(series, theme);
        if (auto* item = plot_->legend->itemWithPlottable(series.smooth_graph))
            item->setTextColor(series.shown ? theme.text : theme.frame);
    }
}

/// One entry for each series that has points, in the order of their keys.
void MetricChart::fillLegend() {
    int wanted = 0;
    for (const auto& [key, series] : series_)
        wanted += series.points.empty() ? 0 : 1;
    if (plot_->legend->itemCount() == wanted) return;
    plot_->legend->clearItems();
    for (const auto& [key, series] : series_)
        if (!series.points.empty()) series.smooth_graph->addToLegend();
}

void MetricChart::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    paintWithLegend(plot_->legend->visible(), painter, area, theme);
}

void MetricChart::paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                                  const Theme& theme) const {
    applyTheme(theme, painter.font());
    // Finer than any screen: thinning is for the screen, a print shows more.
    fillGraphs(kColumnsAPixel * static_cast<std::size_t>(area.width()));
    const bool crosshair_shown = crosshair_->visible(), legend_shown = plot_->legend->visible();
    crosshair_->setVisible(false);
    plot_->legend->setVisible(legend);
    paintPlot(*plot_, painter, area);
    plot_->legend->setVisible(legend_shown);
    crosshair_->setVisible(crosshair_shown);
    applyTheme(Theme::of(palette()), font());
    fillGraphs(screenColumns());
}

QString MetricChart::figureCsv() const {
    QString csv = QStringLiteral("run,step,time_s,tokens,%1,smoothed\n").arg(name_);
    for (const auto& [key, series] : series_) {
        if (!series.shown) continue;
        const QString label = quoted(key);
        for (std::size_t i = 0; i < series.points.size(); ++i) {
            const Point& point = series.points[i];
            csv += label;
            for (const double value :
                 {point.step, point.time_s, point.tokens, point.value, series.smooth.y()[i]})
                csv += ',' + QString::number(value, 'g', 17);
            csv += '\n';
        }
    }
    return csv;
}

QString MetricChart::figureCaption() const {
    QStringList labels;
    for (const auto& [key, series] : series_)
        if (series.shown) labels << key;
    return tr("%1 by %2: %3. Pale: each step; bold: exponential mean with weight %4")
        .arg(value_, acrossName(), labels.join(QStringLiteral(", ")))
        .arg(smoothing_);
}

}  // namespace roper
