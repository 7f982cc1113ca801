#include "ui/charts/figure_view.h"

#include <QContextMenuEvent>
#include <QPainter>

#include "ui/charts/export_dialog.h"

namespace roper {
namespace {

/// Draws an outline twice: wide in the background color, then narrow in the text color.
template <class Draw>
void drawOnAnyColor(QPainter& painter, const Theme& theme, Draw draw) {
    painter.setBrush(Qt::NoBrush);
    for (const QPen& pen : {QPen(theme.background, 4), QPen(theme.text, 1.6)}) {
        painter.setPen(pen);
        draw();
    }
}

}  // namespace

FigureView::FigureView(QWidget* parent, const QString& name, const QString& accessible)
    : QWidget(parent), name_(name) {
    setAccessibleName(accessible);
    setMouseTracking(true);
    setFocusPolicy(Qt::ClickFocus);  // keys then go to the figure, not to the field used before
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    setFont(Zoom::instance().figureFont());
    connect(&Zoom::instance(), &Zoom::changed, this, [this] {
        setFont(Zoom::instance().figureFont());
        updateGeometry();
        update();
    });
}

bool FigureView::event(QEvent* event) {
    const double zoom = Zoom::instance().factor();
    const auto deliver = [&](QEvent&& translated) {
        const bool handled = QWidget::event(&translated);
        event->setAccepted(translated.isAccepted());
        return handled;
    };
    switch (zoom == 1 ? QEvent::None : event->type()) {
        case QEvent::MouseButtonPress:
        case QEvent::MouseButtonRelease:
        case QEvent::MouseButtonDblClick:
        case QEvent::MouseMove: {
            const auto& mouse = *static_cast<QMouseEvent*>(event);
            return deliver(QMouseEvent(mouse.type(), mouse.position() / zoom, mouse.scenePosition(),
                                       mouse.globalPosition(), mouse.button(), mouse.buttons(),
                                       mouse.modifiers(), mouse.pointingDevice()));
        }
        case QEvent::Wheel: {
            const auto& wheel = *static_cast<QWheelEvent*>(event);
            return deliver(QWheelEvent(wheel.position() / zoom, wheel.globalPosition(), wheel.pixelDelta(),
                                       wheel.angleDelta(), wheel.buttons(), wheel.modifiers(), wheel.phase(),
                                       wheel.inverted(), Qt::MouseEventNotSynthesized,
                                       wheel.pointingDevice()));
        }
        default:
            return QWidget::event(event);
    }
}

void FigureView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double zoom = Zoom::instance().factor();
    painter.scale(zoom, zoom);
    const Theme theme = Theme::of(palette());
    painter.save();
    paintFigure(painter, canvas(), theme);
    painter.restore();
    paintHovered(painter, theme);
}

void FigureView::paintNote(QPainter& painter, const QRectF& area, const QString& text, const Theme& theme) {
    drawColoredText(painter, area, Qt::AlignCenter | Qt::TextWordWrap, text, theme.faint_text);
}

void FigureView::paintFrame(QPainter& painter, const QRectF& frame, const Theme& theme) {
    constexpr double kCorner = 2;
    drawOnAnyColor(painter, theme, [&] { painter.drawRoundedRect(frame, kCorner, kCorner); });
}

void FigureView::paintRing(QPainter& painter, const QPointF& about, const Theme& theme) {
    constexpr double kRadius = 7;
    drawOnAnyColor(painter, theme, [&] { painter.drawEllipse(about, kRadius, kRadius); });
}

void FigureView::contextMenuEvent(QContextMenuEvent* event) {
    const QPointF at = QPointF(event->pos()) / Zoom::instance().factor();
    showExportMenu(*this, event->globalPos(), this, [this, at](QMenu& menu) {
        addToMenu(menu);
        if (menu_entries_) menu_entries_(menu, at);
    });
}

}  // namespace roper
