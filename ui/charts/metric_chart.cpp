#include "ui/charts/metric_chart.h"

#include <algorithm>
#include <cmath>

namespace roper {

MetricChart::MetricChart(const QString& name, const QString& value, QWidget* parent)
    : PlotView(name, {}, value, parent) {
    constexpr QMargins kMinMargins{52, 8, 15, 8};  // around the axes, in pixels
    setMinimumSize(260, 150);
    plot().setNoAntialiasingOnDrag(true);
    // The x axes of stacked charts start at the same x, however wide the numbers of their y axes are.
    plot().axisRect()->setMinimumMargins(kMinMargins);
    plot().legend->setIconSize(26, 10);
    setNames(name, xAxisName(), value);
    setWholeX(true);
}

double MetricChart::xOf(const Point& point) const {
    return x_axis_ == XAxis::step ? point.step : x_axis_ == XAxis::time ? point.time_s : point.tokens;
}

QString MetricChart::xAxisName() const {
    return x_axis_ == XAxis::step   ? tr("step")
           : x_axis_ == XAxis::time ? tr("training time, s")
                                    : tr("tokens");
}

void MetricChart::addSeries(const QString& key, const CurveStyle& style) {
    if (hasSeries(key)) return;
    Series& series = series_[key];
    series.key = key;
    series.style = style;
    series.raw_graph = plot().addGraph();
    series.smooth_graph = plot().addGraph();
    series.mark_graph = plot().addGraph();
    series.mark_graph->setLineStyle(QCPGraph::lsNone);
    for (QCPGraph* graph : {series.raw_graph, series.smooth_graph, series.mark_graph})
        graph->setAdaptiveSampling(false);
    rebuild(series);
    markDirty();
}

void MetricChart::removeSeries(const QString& key) {
    const auto found = series_.find(key);
    if (found == series_.end()) return;
    plot().removeGraph(found->second.raw_graph);
    plot().removeGraph(found->second.smooth_graph);
    plot().removeGraph(found->second.mark_graph);
    if (found->second.reference_line != nullptr) {
        plot().removeItem(found->second.reference_line);
        plot().removeGraph(found->second.reference_graph);
    }
    series_.erase(found);
    resetVisibility(key);
    markDirty();
}

void MetricChart::append(const QString& key, const Point& point) {
    Series& series = series_.at(key);
    series.points.push_back(point);
    extend(series, point);
    markDirty();
}

void MetricChart::clear(const QString& key) {
    Series& series = series_.at(key);
    series.points.clear();
    rebuild(series);
    markDirty();
}

void MetricChart::extend(Series& series, const Point& point) {
    if (std::isnan(xOf(point))) return;  // no value was recorded for this x axis
    series.raw.append(xOf(point), point.value);
    series.mean.append(point.value);
}

void MetricChart::rebuild(Series& series) {
    series.raw.clear();
    series.mean.clear();
    for (const Point& point : series.points)
        extend(series, point);
}

void MetricChart::setReference(const QString& key, double value, const QString& name) {
    Series& series = series_.at(key);
    if (series.reference_line == nullptr) {
        series.reference_line = new QCPItemStraightLine(&plot());
        series.reference_line->setSelectable(false);
        series.reference_graph = plot().addGraph();
        series.reference_graph->setName(name);
    }
    series.reference = value;
    series.reference_name = name;
    markDirty();
}

void MetricChart::setCurveStyle(const QString& key, const CurveStyle& style) {
    Series& series = series_.at(key);
    if (series.style == style) return;
    series.style = style;
    markDirty();
}

void MetricChart::setXAxis(XAxis across) {
    x_axis_ = across;
    setWholeX(across != XAxis::time);
    setNames(figureName(), xAxisName(), yName());
    for (auto& [key, series] : series_)
        rebuild(series);
    autoscale();
}

void MetricChart::setSmoothing(int values) {
    smoothing_ = values;
    markDirty();
}

void MetricChart::setValue(const QString& name, const QString& value) {
    while (!series_.empty())
        removeSeries(QString(series_.begin()->first));
    setNames(name, xAxisName(), value);
    autoscale();
}

void MetricChart::refitSharedRange() {
    if (autoscalesX()) markDirty();
}

bool MetricChart::hasValueIn(const QCPRange& xs, const QCPRange& ys) const {
    return std::ranges::any_of(series_, [&](const auto& each) {
        const Series& series = each.second;
        if (!isCurveVisible(series.key) || series.raw.empty()) return false;
        const MinMaxPyramid::Range range = series.raw.range(xs.lower, xs.upper);
        return range.low <= ys.upper && range.high >= ys.lower && range.low <= range.high;
    });
}

void MetricChart::setLegendShown(std::optional<bool> shown) {
    legend_shown_ = shown;
    markDirty();
}

bool MetricChart::isListedElsewhere(const std::vector<PlotLegend::Entry>& entries) const {
    return !legend_shown_ && listed_elsewhere_ && needsLegendBelow(entries) && listed_elsewhere_();
}

bool MetricChart::hasRoomForLegend() const {
    constexpr int kMinHeight = 110;  // minimum height with a legend
    return height() >= kMinHeight;
}

bool MetricChart::isLegendShown() const {
    if (legend_shown_) return *legend_shown_;
    return hasRoomForLegend() && !isListedElsewhere(legendEntries(Theme::of(palette())));
}

bool MetricChart::needsLegendBelow(const std::vector<PlotLegend::Entry>& entries) {
    constexpr std::size_t kMaxInside = 3;  // twins, and their reference
    return entries.size() > kMaxInside;
}

bool MetricChart::legendContains(const MetricChart& other) const {
    const auto own = legendSeries(), others = other.legendSeries();
    return isLegendShown() && std::ranges::all_of(others, [&](const Series* theirs) {
               return std::ranges::any_of(
                   own, [&](const Series* series) { return series->style.label == theirs->style.label; });
           });
}

std::size_t MetricChart::pointCount(const QString& key) const {
    const auto found = series_.find(key);
    return found == series_.end() ? 0 : found->second.points.size();
}

QString MetricChart::emptyReason() const {
    bool has_points = false;
    for (const auto& [key, series] : series_) {
        if (!series.raw.empty()) return {};
        has_points = has_points || !series.points.empty();
    }
    return has_points ? tr("Not recorded: %1").arg(xAxisName()) : emptyText();
}

std::vector<const QCPGraph*> MetricChart::curveGraphs() const {
    std::vector<const QCPGraph*> graphs;
    for (const auto& [key, series] : series_)
        graphs.push_back(series.smooth_graph);
    return graphs;
}

QStringList MetricChart::keys() const {
    QStringList keys;
    for (const auto& [key, series] : series_)
        keys << key;
    return keys;
}

/// All series with the same label share a legend entry.
QStringList MetricChart::keysOf(const QCPAbstractPlottable* entry) const {
    const auto clicked =
        std::ranges::find_if(series_, [&](const auto& each) { return each.second.smooth_graph == entry; });
    QStringList keys;
    for (const auto& [key, series] : series_)
        if (clicked != series_.end() && series.style.label == clicked->second.style.label) keys << key;
    return keys;
}

}  // namespace roper
