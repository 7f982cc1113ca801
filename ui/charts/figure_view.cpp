#include "ui/charts/figure_view.h"

#include <QContextMenuEvent>
#include <QPainter>

#include "ui/charts/export_dialog.h"

namespace roper {

FigureView::FigureView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::ClickFocus);  // keys then mean the picture, not the field typed in before
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
}

void FigureView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintFigure(painter, rect(), Theme::of(palette()));
}

void FigureView::contextMenuEvent(QContextMenuEvent* event) {
    showExportMenu(*this, event->globalPos(), this, [this](QMenu& menu) { addToMenu(menu); });
}

void FigureView::leaveEvent(QEvent*) {
    emit pointed({});
}

}  // namespace roper
