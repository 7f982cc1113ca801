#include "ui/tour/page_overlays.h"

#include <QAbstractButton>
#include <QEvent>
#include <QPainter>
#include <QScrollArea>

#include "core/base/text.h"
#include "ui/controls/folding_group.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr int kFrameGap = 4;   // pixels between the control and its frame
constexpr double kLine = 2.5;  // width of the frame in pixels

/// Scrolls to the whole control; QScrollArea::ensureWidgetVisible would scroll only to its text cursor.
void bringIntoView(QScrollArea& area, const QWidget& control) {
    const QRect place(control.mapTo(area.widget(), QPoint(0, 0)), control.size());
    for (const QPoint& corner : {place.bottomRight(), place.topLeft()})
        area.ensureVisible(corner.x(), corner.y(), 2 * kFrameGap, 2 * kFrameGap);
}

}  // namespace

QWidget* controlNamed(const QWidget& page, const QString& name) {
    QWidget* found = nullptr;
    for (QWidget* widget : page.findChildren<QWidget*>()) {
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const QString own = widget->accessibleName().isEmpty() && button != nullptr
                                ? button->text().remove('&')
                                : widget->accessibleName();
        if (own != name) continue;
        if (widget->isVisibleTo(&page)) return widget;
        if (found == nullptr) found = widget;
    }
    return found;
}

ControlMarker::ControlMarker(QWidget* window) : QWidget(window) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void ControlMarker::mark(QWidget* control) {
    for (const QPointer<QWidget>& widget : watched_)
        if (widget) widget->removeEventFilter(this);
    watched_.clear();
    control_ = control;
    for (QWidget* widget = control; widget != nullptr && !widget->isWindow();
         widget = widget->parentWidget()) {
        if (auto* group = qobject_cast<FoldingGroup*>(widget)) group->setFolded(false);
        // All enclosing scroll areas, from the inside out: a narrow window scrolls the whole page as well.
        if (auto* area = qobject_cast<QScrollArea*>(widget)) bringIntoView(*area, *control);
        widget->installEventFilter(this);
        watched_.append(widget);
    }
    trackControl();
}

bool ControlMarker::eventFilter(QObject*, QEvent* event) {
    constexpr QEvent::Type kChanges[] = {QEvent::Move, QEvent::Resize, QEvent::Show, QEvent::Hide};
    if (hasElement(kChanges, event->type()))  // queued, because the layout is not complete yet
        QMetaObject::invokeMethod(this, &ControlMarker::trackControl, Qt::QueuedConnection);
    return false;
}

void ControlMarker::trackControl() {
    const bool is_seen = control_ && control_->isVisible() && !control_->visibleRegion().isEmpty();
    if (is_seen) {
        const QRect seen = control_->visibleRegion().boundingRect();
        const QPoint at = control_->mapTo(parentWidget(), seen.topLeft());
        setGeometry(QRect(at, seen.size()).adjusted(-kFrameGap, -kFrameGap, kFrameGap, kFrameGap));
        raise();
    }
    setVisible(is_seen);
}

void ControlMarker::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(Theme::roper(), kLine));
    const double inset = kLine / 2;
    painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), 6, 6);
}

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
    // If the page is in a scroll area, its parent is the viewport.
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
