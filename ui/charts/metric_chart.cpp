#include "ui/charts/metric_chart.h"

#include <QScopedValueRollback>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/charts/export_dialog.h"
#include "ui/charts/log_ticker.h"
#include "ui/theme/elided_label.h"

namespace roper {
namespace {

constexpr int kBetweenReplots_ms = 33;
constexpr QMargins kLeastMargins{52, 8, 15, 8};  // about the axes, in pixels

}  // namespace

MetricChart::MetricChart(const QString& name, const QString& value, QWidget* parent)
    : QWidget(parent),
      name_(name),
      value_(value),
      plot_(new QCustomPlot(this)),
      crosshair_(new QCPItemStraightLine(plot_)),
      empty_label_(new QCPItemText(plot_)),
      letters_(new CurveLetters(*plot_)),
      legend_(*plot_) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    setAccessibleName(value);
    setMinimumSize(260, 150);
    plot_->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    plot_->setNoAntialiasingOnDrag(true);
    // The x axes of charts one above the other begin at one place, however wide their numbers are.
    plot_->axisRect()->setMinimumMargins(kLeastMargins);
    plot_->legend->setIconSize(26, 10);
    crosshair_->setVisible(false);
    crosshair_->setSelectable(false);
    empty_label_->position->setType(QCPItemPosition::ptAxisRectRatio);
    empty_label_->position->setCoords(0.5, 0.5);
    empty_label_->setSelectable(false);

    connect(plot_, &QCustomPlot::legendClick, this,
            [this](QCPLegend*, QCPAbstractLegendItem* item) { onLegendClick(item, false); });
    connect(plot_, &QCustomPlot::legendDoubleClick, this,
            [this](QCPLegend*, QCPAbstractLegendItem* item) { onLegendClick(item, true); });
    connect(plot_, &QCustomPlot::mouseMove, this, &MetricChart::onMouseMove);
    connect(plot_, &QCustomPlot::mouseDoubleClick, this, [this] {
        follow();
        emit followed();
    });
    connect(plot_, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        // A plot that draws a box gives its legend no clicks.
        const bool on_legend = plot_->legend->visible() && plot_->legend->outerRect().contains(event->pos());
        const bool zooms =
            event->button() == Qt::LeftButton && !(event->modifiers() & Qt::ShiftModifier) && !on_legend;
        plot_->setSelectionRectMode(zooms ? QCP::srmCustom : QCP::srmNone);
    });
    connect(plot_->selectionRect(), &QCPSelectionRect::accepted, this, &MetricChart::zoomInto);
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
        connect(axis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
                [this, axis](const QCPRange& range) {
                    if (fitting_) return;
                    // Moved or zoomed by hand.
                    (axis == plot_->xAxis ? follow_x_ : follow_y_) = false;
                    markDirty();
                    if (axis == plot_->xAxis) emit stretchChosen(range.lower, range.upper);
                });
    }
    connect(plot_, &QCustomPlot::mouseRelease, this, &MetricChart::markDirty);
    // Only now is known where everything stands.
    connect(plot_, &QCustomPlot::afterReplot, this, [this] {
        if (placeLegend()) plot_->replot(QCustomPlot::rpQueuedReplot);
    });
    timer_.setSingleShot(true);
    timer_.setInterval(kBetweenReplots_ms);
    connect(&timer_, &QTimer::timeout, this, &MetricChart::redrawNow);
    plot_->setContextMenuPolicy(Qt::CustomContextMenu);  // a plot keeps the events of its menu to itself
    connect(plot_, &QWidget::customContextMenuRequested, this,
            [this](const QPoint& at) { showExportMenu(*this, plot_->mapToGlobal(at), this, menu_extras_); });
    applyAxisKinds();
    markDirty();
}

double MetricChart::xOf(const Point& point) const {
    return across_ == XAxis::step ? point.step : across_ == XAxis::time ? point.time_s : point.tokens;
}

QString MetricChart::acrossName() const {
    return across_ == XAxis::step   ? tr("step")
           : across_ == XAxis::time ? tr("training time, s")
                                    : tr("tokens");
}

void MetricChart::addSeries(const QString& key, const Look& look) {
    if (hasSeries(key)) return;
    Series& series = series_[key];
    series.look = look;
    series.raw_graph = plot_->addGraph();
    series.smooth_graph = plot_->addGraph();
    series.mark_graph = plot_->addGraph();
    series.mark_graph->setLineStyle(QCPGraph::lsNone);
    for (QCPGraph* graph : {series.raw_graph, series.smooth_graph, series.mark_graph})
        graph->setAdaptiveSampling(false);
    rebuild(series);
    markDirty();
}

void MetricChart::removeSeries(const QString& key) {
    const auto found = series_.find(key);
    if (found == series_.end()) return;
    plot_->removeGraph(found->second.raw_graph);
    plot_->removeGraph(found->second.smooth_graph);
    plot_->removeGraph(found->second.mark_graph);
    if (found->second.reference_line != nullptr) {
        plot_->removeItem(found->second.reference_line);
        plot_->removeGraph(found->second.reference_graph);
    }
    series_.erase(found);
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
    if (std::isnan(xOf(point))) return;  // it was not recorded where it stands on this axis
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
        series.reference_line = new QCPItemStraightLine(plot_);
        series.reference_line->setSelectable(false);
        series.reference_graph = plot_->addGraph();
        series.reference_graph->setName(name);
    }
    series.reference = value;
    series.reference_name = name;
    markDirty();
}

void MetricChart::setLook(const QString& key, const Look& look) {
    Series& series = series_.at(key);
    if (series.look == look) return;
    series.look = look;
    markDirty();
}

void MetricChart::setShown(const QString& key, bool shown) {
    const auto found = series_.find(key);
    if (found == series_.end()) return;
    found->second.shown = shown;
    markDirty();
}

bool MetricChart::isShown(const QString& key) const {
    return series_.at(key).shown;
}

void MetricChart::isolate(const QString& label) {
    bool alone = true;
    for (const auto& [key, series] : series_)
        alone = alone && series.shown == (series.look.label == label);
    for (auto& [key, series] : series_)
        series.shown = alone || series.look.label == label;
    markDirty();
}

void MetricChart::setAcross(XAxis across) {
    across_ = across;
    for (auto& [key, series] : series_)
        rebuild(series);
    follow();
}

void MetricChart::setSmoothing(int values) {
    smoothing_ = values;
    markDirty();
}

void MetricChart::setLogX(bool on) {
    log_x_ = on;
    applyAxisKinds();
    follow();
}

void MetricChart::setLogY(bool on) {
    log_y_ = on;
    applyAxisKinds();
    follow_y_ = true;
    markDirty();
}

void MetricChart::applyAxisKinds() {
    const auto apply = [](QCPAxis* axis, bool logarithmic) {
        axis->setScaleType(logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        axis->setTicker(logarithmic ? QSharedPointer<QCPAxisTicker>(new LogTicker)
                                    : QSharedPointer<QCPAxisTicker>(new QCPAxisTicker));
    };
    apply(plot_->xAxis, log_x_);
    apply(plot_->yAxis, log_y_);
}

void MetricChart::setValue(const QString& name, const QString& value) {
    while (!series_.empty())
        removeSeries(QString(series_.begin()->first));
    name_ = name;
    value_ = value;
    setAccessibleName(value);
    follow();
}

void MetricChart::keepUp() {
    if (follow_x_) markDirty();
}

void MetricChart::showStretch(double from, double to) {
    {
        const QScopedValueRollback fitting(fitting_, true);
        plot_->xAxis->setRange(from, to);
    }
    follow_x_ = false;
    follow_y_ = true;
    fitY();
    markDirty();
}

bool MetricChart::anyValueIn(const QCPRange& xs, const QCPRange& ys) const {
    return std::any_of(series_.begin(), series_.end(), [&](const auto& each) {
        const Series& series = each.second;
        if (!series.shown || series.raw.empty()) return false;
        const MinMaxPyramid::Range range = series.raw.range(xs.lower, xs.upper);
        return range.low <= ys.upper && range.high >= ys.lower && range.low <= range.high;
    });
}

/// Into a box drawn by hand. One that is too flat to be meant in both directions zooms in the other alone.
void MetricChart::zoomInto(const QRect& box) {
    constexpr int kMeant = 12;
    const QRect drawn = box.normalized() & plot_->axisRect()->rect();
    const bool along_x = drawn.width() >= kMeant, along_y = drawn.height() >= kMeant;
    if (!along_x && !along_y) return;
    const QCPAxis &x = *plot_->xAxis, &y = *plot_->yAxis;
    const QCPRange xs(x.pixelToCoord(drawn.left()), x.pixelToCoord(drawn.right()));
    const QCPRange ys(y.pixelToCoord(drawn.bottom()), y.pixelToCoord(drawn.top()));
    // Of a box as high as the chart, or without a value in it, all values of its stretch are shown.
    constexpr double kWhole = 0.85;
    const bool all_values =
        along_x && (drawn.height() > kWhole * plot_->axisRect()->height() || !anyValueIn(xs, ys));
    if (along_x) showStretch(xs.lower, xs.upper);
    if (along_y && !all_values) {
        const QScopedValueRollback fitting(fitting_, true);
        plot_->yAxis->setRange(ys);
        follow_y_ = false;
    }
    markDirty();
    if (along_x) emit stretchChosen(xs.lower, xs.upper);
}

void MetricChart::setLegendShown(std::optional<bool> shown) {
    legend_shown_ = shown;
    markDirty();
}

bool MetricChart::isListedElsewhere(const std::vector<PlotLegend::Entry>& entries) const {
    return !legend_shown_ && listed_elsewhere_ && standsBelow(entries) && listed_elsewhere_();
}

bool MetricChart::hasRoomForLegend() const {
    constexpr int kLeastHeight = 110;  // of a chart whose legend leaves its curves in sight
    return height() >= kLeastHeight;
}

bool MetricChart::isLegendShown() const {
    if (legend_shown_) return *legend_shown_;
    return hasRoomForLegend() && !isListedElsewhere(legendEntries(Theme::of(palette())));
}

bool MetricChart::standsBelow(const std::vector<PlotLegend::Entry>& entries) {
    constexpr std::size_t kMostInside = 3;  // twins, and what they are measured against
    return entries.size() > kMostInside;
}

bool MetricChart::lists(const MetricChart& other) const {
    const auto own = legendSeries(), others = other.legendSeries();
    return isLegendShown() && std::all_of(others.begin(), others.end(), [&](const Series* theirs) {
               return std::any_of(own.begin(), own.end(), [&](const Series* series) {
                   return series->look.label == theirs->look.label;
               });
           });
}

void MetricChart::setNamesShown(bool x, bool y) {
    x_named_ = x;
    y_named_ = y;
    markDirty();
}

void MetricChart::follow() {
    follow_x_ = follow_y_ = true;
    markDirty();
}

void MetricChart::markDirty() {
    dirty_ = true;
    if (!timer_.isActive()) timer_.start();
}

std::size_t MetricChart::pointCount(const QString& key) const {
    const auto found = series_.find(key);
    return found == series_.end() ? 0 : found->second.points.size();
}

void MetricChart::redrawNow() {
    if (!dirty_) return;
    dirty_ = false;
    if (follow_x_) fitX();
    if (follow_y_) fitY();
    applyTheme(Theme::of(palette()), font());
    fillOwnLegend();
    applyNames(x_named_, y_named_);
    applyTickCount(plot_->axisRect()->height());
    fillGraphs(screenColumns());
    bool has_points = false, has_places = false;
    for (const auto& [key, series] : series_) {
        has_points = has_points || !series.points.empty();
        has_places = has_places || !series.raw.empty();
    }
    const QString text = has_points ? tr("Not recorded: %1").arg(acrossName()) : empty_text_;
    empty_label_->setText(wrapped(text, QFontMetricsF(empty_label_->font()), 0.8 * plot_->width()));
    empty_label_->setVisible(!has_places);
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void MetricChart::onLegendClick(QCPAbstractLegendItem* item, bool alone) {
    auto* of_graph = qobject_cast<QCPPlottableLegendItem*>(item);
    if (of_graph == nullptr) return;
    const auto clicked = std::find_if(series_.begin(), series_.end(), [&](const auto& each) {
        return each.second.smooth_graph == of_graph->plottable();
    });
    if (clicked == series_.end()) return;
    const QString label = clicked->second.look.label;
    const auto has_label = [&](const auto& each) { return each.second.look.label == label; };
    const auto first = std::find_if(series_.begin(), series_.end(), has_label);
    const bool shown = !first->second.shown;
    for (auto& each : series_)
        if (has_label(each)) each.second.shown = shown;
    // The first click of a double click has toggled it already; the second takes that back.
    if (alone) isolate(label);
    for (const auto& [key, series] : series_)
        emit shownChanged(key, series.shown);
    markDirty();
}

void MetricChart::onMouseMove(QMouseEvent* event) {
    const bool inside = plot_->axisRect()->rect().contains(event->pos());
    const double x = plot_->xAxis->pixelToCoord(event->pos().x());
    crosshair_->setVisible(inside);
    crosshair_->point1->setCoords(x, plot_->yAxis->range().lower);
    crosshair_->point2->setCoords(x, plot_->yAxis->range().upper);
    emit pointed(inside ? readoutAt(x, plot_->yAxis->pixelToCoord(event->pos().y())) : QString());
    markDirty();
}

void MetricChart::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) markDirty();
    QWidget::changeEvent(event);
}

void MetricChart::leaveEvent(QEvent*) {
    crosshair_->setVisible(false);
    emit pointed({});
    markDirty();
}

void MetricChart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    markDirty();
}

}  // namespace roper
