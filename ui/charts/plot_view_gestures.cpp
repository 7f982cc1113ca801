#include <QApplication>
#include <algorithm>
#include <cmath>

#include "ui/charts/plot_view.h"

// Mouse and key handling of a PlotView.

namespace roper {
namespace {

constexpr double kWheelZoom = 0.85, kKeyZoom = 0.7, kKeyMove = 0.1;

/// Maps the ends of an axis's range, in pixels.
template <class Map>
QCPRange mapped(const QCPAxis& axis, Map map) {
    return {axis.pixelToCoord(map(axis.coordToPixel(axis.range().lower))),
            axis.pixelToCoord(map(axis.coordToPixel(axis.range().upper)))};
}

}  // namespace

void PlotView::connectMouse() {
    connect(plot_, &QCustomPlot::legendClick, this,
            [this](QCPLegend*, QCPAbstractLegendItem* item) { onLegendClick(item, false); });
    connect(plot_, &QCustomPlot::legendDoubleClick, this,
            [this](QCPLegend*, QCPAbstractLegendItem* item) { onLegendClick(item, true); });
    connect(plot_, &QCustomPlot::mousePress, this, &PlotView::onPress);
    connect(plot_, &QCustomPlot::mouseMove, this, &PlotView::onMove);
    connect(plot_, &QCustomPlot::mouseRelease, this, &PlotView::onRelease);
    connect(plot_, &QCustomPlot::mouseDoubleClick, this, [this](QMouseEvent* event) {
        gesture_ = Gesture::none;
        plot_->setSelectionRectMode(QCP::srmNone);
        if (event->button() == Qt::LeftButton && !isOnLegend(event->pos())) reset();
    });
    connect(plot_, &QCustomPlot::mouseWheel, this, [this](QWheelEvent* event) {
        zoom(std::pow(kWheelZoom, event->angleDelta().y() / 120.0), event->position());
    });
    connect(plot_->selectionRect(), &QCPSelectionRect::accepted, this, &PlotView::zoomInto);
}

bool PlotView::isOnLegend(const QPoint& at) const {
    return plot_->legend->visible() && plot_->legend->outerRect().contains(at);
}

/// While the plot draws a selection box, its legend receives no clicks.
void PlotView::onPress(QMouseEvent* event) {
    const bool moves = event->button() == Qt::MiddleButton ||
                       (event->button() == Qt::LeftButton && event->modifiers() & Qt::ShiftModifier);
    const bool draws_box = event->button() == Qt::LeftButton && !moves && !isOnLegend(event->pos()) &&
                           plot_->axisRect()->rect().contains(event->pos());
    gesture_ = moves ? Gesture::move : draws_box ? Gesture::box : Gesture::none;
    plot_->setSelectionRectMode(draws_box ? QCP::srmCustom : QCP::srmNone);
    pressed_at_ = moved_to_ = event->position();
}

void PlotView::onMove(QMouseEvent* event) {
    if (gesture_ == Gesture::move) move(pressed_at_, event->position() - moved_to_);
    moved_to_ = event->position();
    const bool inside = plot_->axisRect()->rect().contains(event->pos());
    emitReadout(inside ? readAt(event->position()) : std::nullopt);
}

void PlotView::onRelease(QMouseEvent* event) {
    const bool is_click = gesture_ == Gesture::box && (event->position() - pressed_at_).manhattanLength() <
                                                          QApplication::startDragDistance();
    gesture_ = Gesture::none;
    if (is_click) emit clicked(plot_->xAxis->pixelToCoord(pressed_at_.x()));
}

void PlotView::onLegendClick(QCPAbstractLegendItem* item, bool alone) {
    auto* of_curve = qobject_cast<QCPPlottableLegendItem*>(item);
    const QStringList clicked = of_curve == nullptr ? QStringList() : keysOf(of_curve->plottable());
    if (clicked.isEmpty()) return;
    // The first click of a double click has already toggled the curve; this undoes it.
    const bool shown = !isCurveVisible(clicked.front());
    for (const QString& key : clicked)
        setCurveVisible(key, shown);
    const QStringList all = keys();
    const bool is_alone = std::ranges::all_of(
        all, [&](const QString& key) { return isCurveVisible(key) == clicked.contains(key); });
    for (const QString& key : all) {
        if (alone) setCurveVisible(key, is_alone || clicked.contains(key));
        emit curveVisibilityChanged(key, isCurveVisible(key));
    }
}

/// Zooms into a box drawn with the mouse. A box too flat in one direction zooms only in the other.
void PlotView::zoomInto(const QRect& box) {
    constexpr int kMinExtent = 12;  // pixels
    const QRect drawn = box.normalized() & plot_->axisRect()->rect();
    const bool along_x = drawn.width() >= kMinExtent, along_y = drawn.height() >= kMinExtent;
    if (!along_x && !along_y) return;
    const QCPAxis &x = *plot_->xAxis, &y = *plot_->yAxis;
    const QCPRange xs(x.pixelToCoord(drawn.left()), x.pixelToCoord(drawn.right()));
    const QCPRange ys(y.pixelToCoord(drawn.bottom()), y.pixelToCoord(drawn.top()));
    // A box as high as the chart, or without values in it, shows all values of its x range.
    constexpr double kWhole = 0.85;
    const bool all_values =
        along_x && (drawn.height() > kWhole * plot_->axisRect()->height() || !hasValueIn(xs, ys));
    if (along_x) showXRange(xs.lower, xs.upper);
    if (along_y && !all_values) {
        plot_->yAxis->setRange(ys);
        autoscale_y_ = false;
    }
    markDirty();
    if (along_x) emit xRangeChosen(xs.lower, xs.upper);
}

void PlotView::changeRanges(const QPointF& at, const std::function<QPointF(const QPointF&)>& map) {
    const QRect inside = plot_->axisRect()->rect();
    QCPAxis &x = *plot_->xAxis, &y = *plot_->yAxis;
    const QCPRange xs = mapped(x, [&](double px) { return map({px, at.y()}).x(); });
    const QCPRange ys = mapped(y, [&](double px) { return map({at.x(), px}).y(); });
    const bool along_x = at.x() >= inside.left() && xs != x.range() && QCPRange::validRange(xs);
    const bool along_y = at.y() <= inside.bottom() && ys != y.range() && QCPRange::validRange(ys);
    if (along_x) {
        x.setRange(xs);
        autoscale_x_ = false;
    }
    if (along_y) {
        y.setRange(ys);
        autoscale_y_ = false;
    }
    markDirty();
    if (along_x) emit xRangeChosen(xs.lower, xs.upper);
}

void PlotView::zoom(double factor, const QPointF& about) {
    changeRanges(about, [&](const QPointF& end) { return about + (end - about) * factor; });
}

void PlotView::move(const QPointF& at, const QPointF& by) {
    changeRanges(at, [&](const QPointF& end) { return end - by; });
}

void PlotView::reset() {
    autoscale();
    emit autoscaled();
}

void PlotView::emitReadout(const std::optional<Readout>& readout) {
    setHovered(readout ? std::optional(readout->x) : std::nullopt);
    if (readout && !readout->text.isEmpty()) emit xHovered(readout->x);
    emit hovered(readout ? readout->text : QString());
}

/// Moves the crosshair to the next x with a different readout, as if the pointer were at half the height.
void PlotView::moveCrosshair(int direction) {
    constexpr double kStep = 8;  // pixels
    const QRect inside = plot_->axisRect()->rect();
    double x = hovered_        ? plot_->xAxis->coordToPixel(*hovered_)
               : direction > 0 ? inside.left() - kStep
                               : inside.right() + kStep;
    for (x += direction * kStep; x >= inside.left() && x <= inside.right(); x += direction * kStep) {
        const auto readout = readAt({x, static_cast<double>(inside.center().y())});
        if (!readout || readout->x == hovered_) continue;
        emitReadout(readout);
        return plot_->setAccessibleDescription(readout->text);
    }
}

bool PlotView::pressKey(const QKeyEvent& key) {
    const QRect inside = plot_->axisRect()->rect();
    const QPointF center = inside.center();
    const double wide = kKeyMove * inside.width(), high = kKeyMove * inside.height();
    const auto modifiers = key.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
    if (modifiers != Qt::NoModifier && modifiers != Qt::ControlModifier) return false;
    const bool moves = modifiers == Qt::ControlModifier;
    switch (key.key()) {
        case Qt::Key_Left:
            return moves ? move(center, {wide, 0}) : moveCrosshair(-1), true;
        case Qt::Key_Right:
            return moves ? move(center, {-wide, 0}) : moveCrosshair(1), true;
        case Qt::Key_Up:
            return moves ? move(center, {0, high}), true : false;
        case Qt::Key_Down:
            return moves ? move(center, {0, -high}), true : false;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(kKeyZoom, center), true;
        case Qt::Key_Minus:
            return zoom(1 / kKeyZoom, center), true;
        case Qt::Key_0:
            return reset(), true;
        default:
            return false;
    }
}

bool PlotView::eventFilter(QObject* watched, QEvent* event) {
    switch (watched == plot_ ? event->type() : QEvent::None) {
        case QEvent::Leave:
            emitReadout(std::nullopt);
            break;
        case QEvent::KeyPress:
            if (pressKey(*static_cast<QKeyEvent*>(event))) return true;
            break;
        case QEvent::FocusIn:
        case QEvent::FocusOut: {
            // After a click the focus needs no indication; a reactivated window keeps it where it was.
            const auto reason = static_cast<QFocusEvent*>(event)->reason();
            if (reason == Qt::ActiveWindowFocusReason || reason == Qt::PopupFocusReason) break;
            focus_frame_->setVisible(event->type() == QEvent::FocusIn && reason != Qt::MouseFocusReason);
            redrawOverlay();
            break;
        }
        default:
            break;
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace roper
