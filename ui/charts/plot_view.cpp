#include "ui/charts/plot_view.h"

#include <QPicture>
#include <algorithm>

#include "ui/charts/drawing.h"
#include "ui/charts/export_dialog.h"
#include "ui/charts/ticks.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/zoom.h"

// Drawing of a PlotView; plot_view_gestures.cpp handles mouse and keys.

namespace roper {
namespace {

constexpr int kReplotInterval_ms = 33;
const QString kOverlay = QStringLiteral("overlay");  // redrawn without the curves below it

/// Draws a plot into an area with any painter, as vector graphics.
void paintPlot(QCustomPlot& plot, QPainter& painter, const QRectF& area) {
    // QCustomPlot draws only with its own painter class; a QPicture replays its output as vector graphics.
    QPicture picture;
    QCPPainter recorder(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    recorder.setMode(QCPPainter::pmNoCaching);
    plot.toPainter(&recorder, static_cast<int>(area.width()), static_cast<int>(area.height()));
    recorder.end();
    painter.drawPicture(area.topLeft(), picture);
}

}  // namespace

PlotView::PlotView(const QString& name, const QString& x, const QString& y, QWidget* parent)
    : QWidget(parent),
      plot_(new QCustomPlot(this)),
      crosshair_(new QCPItemStraightLine(plot_)),
      focus_frame_(new QCPItemRect(plot_)),
      empty_label_(new QCPItemText(plot_)),
      letters_(new CurveLetters(*plot_)),
      legend_(*plot_) {
    columnOf({plot_}, this)->setContentsMargins(0, 0, 0, 0);
    setFocusProxy(plot_);
    plot_->setFocusPolicy(Qt::StrongFocus);
    plot_->setAccessibleDescription(
        tr("Left and Right read the values, + and − zoom, Ctrl + arrow keys pan, 0 shows everything"));
    plot_->setInteractions(QCP::iNone);
    plot_->setPlottingHint(QCP::phFastPolylines, true);
    plot_->installEventFilter(this);
    for (QCPAbstractItem* item : std::initializer_list<QCPAbstractItem*>{crosshair_, focus_frame_}) {
        item->setLayer(kOverlay);
        item->setVisible(false);
        item->setSelectable(false);
    }
    focus_frame_->setClipToAxisRect(false);
    for (QCPItemPosition* corner : {focus_frame_->topLeft, focus_frame_->bottomRight}) {
        corner->setType(QCPItemPosition::ptViewportRatio);
        corner->setCoords(corner == focus_frame_->topLeft ? QPointF(0, 0) : QPointF(1, 1));
    }
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis})
        axis->setTicker(linearTicker(axis));
    empty_label_->setSelectable(false);
    empty_label_->setVisible(false);
    empty_label_->position->setType(QCPItemPosition::ptAxisRectRatio);
    empty_label_->position->setCoords(0.5, 0.5);
    connectMouse();
    // Positions are known only after the replot.
    connect(plot_, &QCustomPlot::afterReplot, this, [this] {
        const PlotLegend::Move move = legend_.avoidCurves(curveGraphs());
        if (move == PlotLegend::Move::below)
            markDirty();
        else if (move == PlotLegend::Move::to_corner)
            plot_->replot(QCustomPlot::rpQueuedReplot);
    });
    timer_.setSingleShot(true);
    timer_.setInterval(kReplotInterval_ms);
    connect(&timer_, &QTimer::timeout, this, &PlotView::redrawNow);
    plot_->setContextMenuPolicy(Qt::CustomContextMenu);  // QCustomPlot does not forward context menu events
    connect(plot_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        showExportMenu(*this, plot_->mapToGlobal(at), this, [this](QMenu& menu) {
            menu.addAction(tr("Reset zoom"), this, &PlotView::reset)->setEnabled(!isAutoscaled());
            if (extra_menu_entries_) extra_menu_entries_(menu);
        });
    });
    setNames(name, x, y);
}

void PlotView::setNames(const QString& name, const QString& x, const QString& y) {
    name_ = name;
    x_name_ = x;
    y_name_ = y;
    setAccessibleName(y);
    plot_->setAccessibleName(y);
    markDirty();
}

void PlotView::setLog(bool x, bool y) {
    if (x == isLogX() && y == isLogY()) return;
    autoscale_x_ = autoscale_x_ || x != isLogX();
    autoscale_y_ = true;
    for (const auto& [axis, log] : {std::pair{plot_->xAxis, x}, {plot_->yAxis, y}}) {
        axis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        axis->setTicker(log ? QSharedPointer<QCPAxisTicker>(new LogTicker) : linearTicker(axis));
    }
    markDirty();
}

QSharedPointer<QCPAxisTicker> PlotView::linearTicker(const QCPAxis* axis) const {
    const bool is_whole = axis == plot_->xAxis && is_x_whole_;
    return QSharedPointer<QCPAxisTicker>(is_whole ? new WholeTicker : new LinearTicker);
}

void PlotView::setWholeX(bool whole) {
    is_x_whole_ = whole;
    if (!isLogX()) plot_->xAxis->setTicker(linearTicker(plot_->xAxis));
    markDirty();
}

void PlotView::setFullYRange(std::optional<std::pair<double, double>> range) {
    full_y_range_ = range;
    markDirty();
}

void PlotView::autoscale() {
    autoscale_x_ = autoscale_y_ = true;
    markDirty();
}

void PlotView::showXRange(double from, double to) {
    plot_->xAxis->setRange(from, to);
    autoscale_x_ = false;
    autoscale_y_ = true;
    fitAxes(screenCanvas());
    markDirty();
}

void PlotView::setCurveVisible(const QString& key, bool shown) {
    if (shown)
        hidden_.erase(key);
    else
        hidden_.insert(key);
    markDirty();
}

void PlotView::setHovered(std::optional<double> x) {
    if (x == hovered_) return;
    hovered_ = x;
    const bool shown = x && (!isLogX() || *x > 0);
    crosshair_->setVisible(shown);
    if (shown) {
        // A line is defined by two points; on a logarithmic axis both must be positive.
        crosshair_->point1->setCoords(*x, 1);
        crosshair_->point2->setCoords(*x, 2);
    }
    redrawOverlay();
}

void PlotView::redrawOverlay() {
    if (isVisible()) plot_->layer(kOverlay)->replot();
}

void PlotView::setEmptyText(const QString& text) {
    empty_text_ = text;
    redraw();
}

void PlotView::setNamesShown(bool x, bool y) {
    x_named_ = x;
    y_named_ = y;
    markDirty();
}

void PlotView::markDirty() {
    dirty_ = true;
    if (!timer_.isActive()) timer_.start();
}

void PlotView::redraw() {
    dirty_ = true;
    redrawNow();
}

void PlotView::redrawNow() {
    if (!dirty_) return;
    dirty_ = false;
    draw(screenCanvas());
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

PlotView::Canvas PlotView::screenCanvas() const {
    return {Theme::of(palette()), font(), size(), showsLegend(), false};
}

void PlotView::draw(const Canvas& canvas) const {
    applyTheme(canvas);
    applyStyle(canvas);
    fillLegend(canvas);
    nameAxes(canvas);
    fitAxes(canvas);
    fillGraphs(canvas);
    showEmptyReason(canvas);
}

void PlotView::fitAxes(const Canvas& canvas) const {
    if (autoscale_x_) fitX();
    if (autoscale_y_) fitY(canvas);
}

void PlotView::applyTheme(const Canvas& canvas) const {
    const Theme& theme = canvas.theme;
    const QFont font = axisFont(canvas.font);
    plot_->setBackground(theme.background);
    plot_->setFont(font);
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
        axis->setBasePen(QPen(theme.frame, 1));
        axis->setTickPen(QPen(theme.frame, 1));
        axis->setSubTickPen(QPen(theme.grid, 1));
        axis->setTickLabelColor(theme.faint_text);
        axis->setLabelColor(theme.text);
        axis->grid()->setPen(QPen(theme.grid, 1));
        axis->grid()->setZeroLinePen(QPen(theme.grid, 1));
        axis->setTickLabelFont(font);
        axis->setLabelFont(font);
    }
    plot_->legend->setBrush(translucent(theme.background));
    plot_->legend->setFont(font);
    plot_->legend->setTextColor(theme.text);
    crosshair_->setPen(QPen(theme.frame, 1, Qt::DashLine));
    focus_frame_->setPen(QPen(theme.text, 2));
    plot_->selectionRect()->setPen(QPen(theme.text, 1, Qt::DashLine));
    plot_->selectionRect()->setBrush(theme.faded(theme.text, 0.12));
    letters_->setCurveStyle(smallFont(canvas.font), theme.text, theme.background);
}

void PlotView::nameAxes(const Canvas& canvas) const {
    constexpr double kAround = 50;  // height above the axes and for numbers and name of the x axis
    constexpr double kRoom = 24;    // for one number of the y axis
    const double height = canvas.size.height() - kAround - legend_.height();
    const QFontMetricsF metrics(axisFont(canvas.font));
    plot_->xAxis->setLabel(canvas.exported || x_named_ ? x_name_ : QString());
    plot_->yAxis->setLabel(canvas.exported || y_named_ ? metrics.elidedText(y_name_, Qt::ElideRight, height)
                                                       : QString());
    plot_->yAxis->ticker()->setTickCount(std::clamp(static_cast<int>(height / kRoom), 2, 5));
}

/// Hides the axes, which have no meaning without curves.
void PlotView::showEmptyReason(const Canvas& canvas) const {
    constexpr double kBeside = 110;
    const QString text = emptyReason();
    empty_label_->setVisible(!text.isEmpty());
    empty_label_->setColor(canvas.theme.faint_text);
    empty_label_->setFont(canvas.font);
    empty_label_->setText(wrapped(text, QFontMetricsF(canvas.font), canvas.size.width() - kBeside));
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis})
        axis->setVisible(text.isEmpty());
}

QSize PlotView::figureSize() const {
    constexpr QSize kDefaultSize{720, 360};  // for a chart in a tab that was never opened
    return testAttribute(Qt::WA_Resized) && !size().isEmpty() ? size() / Zoom::instance().factor()
                                                              : kDefaultSize;
}

void PlotView::paintWithLegend(bool legend, QPainter& painter, const QRectF& area, const Theme& theme) const {
    const Canvas canvas{theme, painter.font(), area.size(), legend, true};
    const bool was_crowded = legend_.isCrowded();
    draw(canvas);
    const bool crosshair_shown = crosshair_->visible(), frame_shown = focus_frame_->visible();
    crosshair_->setVisible(false);
    focus_frame_->setVisible(false);
    if (legend_.isInside()) {
        // The positions of curves in a figure of this size are known after it has been laid out once.
        QPicture laid_out;
        QPainter unseen(&laid_out);
        paintPlot(*plot_, unseen, area);
        unseen.end();
        if (legend_.avoidCurves(curveGraphs()) == PlotLegend::Move::below) draw(canvas);
    }
    paintPlot(*plot_, painter, area);
    crosshair_->setVisible(crosshair_shown);
    focus_frame_->setVisible(frame_shown);
    legend_.setCrowded(was_crowded);
    draw(screenCanvas());
}

void PlotView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) markDirty();
    QWidget::changeEvent(event);
}

void PlotView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    markDirty();
}

void PlotView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    plot_->replot(QCustomPlot::rpQueuedReplot);  // the crosshair may have moved meanwhile
}

}  // namespace roper
