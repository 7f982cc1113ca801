#include "ui/tour/page_cover.h"

#include <QEvent>

namespace roper {

PageCover::PageCover() : QLabel(tr("Predict first: choose an answer in the tour.\nThen the page appears.")) {
    setAlignment(Qt::AlignCenter);
    setAutoFillBackground(true);
    setForegroundRole(QPalette::PlaceholderText);
    setAccessibleName(tr("The page is covered until an answer is chosen"));
    hide();
}

void PageCover::cover(QWidget* page) {
    if (parentWidget() != nullptr) parentWidget()->removeEventFilter(this);
    if (page_) page_->setEnabled(true);
    hide();
    page_ = page;
    // The viewport, if the page is scrolled.
    setParent(page == nullptr ? nullptr : page->parentWidget());
    if (page == nullptr) return;
    page->setEnabled(false);
    parentWidget()->installEventFilter(this);
    setGeometry(parentWidget()->rect());
    show();
    raise();
}

bool PageCover::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parent() && event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
    return false;
}

}  // namespace roper
