#include "ui/tour/page_cover.h"

#include <QEvent>

namespace roper {

PageCover::PageCover() : QLabel(tr("First predict: choose an answer in the tour.\nThe page appears then.")) {
    setAlignment(Qt::AlignCenter);
    setAutoFillBackground(true);
    setForegroundRole(QPalette::PlaceholderText);
    setAccessibleName(tr("The page is covered until an answer is chosen"));
    hide();
}

void PageCover::cover(QWidget* widget) {
    if (parentWidget() != nullptr) parentWidget()->removeEventFilter(this);
    hide();
    setParent(widget);
    if (widget == nullptr) return;
    widget->installEventFilter(this);
    setGeometry(widget->rect());
    show();
    raise();
}

bool PageCover::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parent() && event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
    return false;
}

}  // namespace roper
