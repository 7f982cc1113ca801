#pragma once

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QFocusEvent>
#include <QPointer>
#include <QScrollArea>
#include <QScrollBar>
#include <utility>

// Event filters of the whole application.

namespace roper {

/// An application-wide event filter: in a scroll area the mouse wheel always scrolls, and never changes a
/// spin or combo box that comes under the pointer.
class WheelGuard : public QObject {
  public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Wheel) return false;
        const bool is_box = qobject_cast<QComboBox*>(watched) != nullptr ||
                            qobject_cast<QAbstractSpinBox*>(watched) != nullptr;
        QScrollArea* area = is_box ? scrolledAreaOf(*static_cast<QWidget*>(watched)) : nullptr;
        if (area == nullptr) return false;
        QCoreApplication::sendEvent(area->verticalScrollBar(), event);
        return true;
    }

  private:
    static QScrollArea* scrolledAreaOf(const QWidget& widget) {
        for (QWidget* parent = widget.parentWidget(); parent != nullptr; parent = parent->parentWidget())
            if (auto* area = qobject_cast<QScrollArea*>(parent))
                if (area->verticalScrollBar()->maximum() > 0) return area;
        return nullptr;
    }
};

/// An application-wide event filter: if the widget with the keyboard focus is disabled or hidden, Qt moves
/// the focus to the next widget, such as from Pause to Stop or from Remove to Clear, where the space bar
/// would destroy something. The filter moves it on to the next widget that is not a button.
class FocusGuard : public QObject {
  public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override {
        auto* widget = qobject_cast<QWidget*>(watched);
        if (widget == nullptr) return false;
        if (event->type() == QEvent::FocusOut) {
            const bool was_moved_by_user = widget->isEnabled() && widget->isVisible();
            const auto reason = static_cast<QFocusEvent*>(event)->reason();
            is_lost_ = !was_moved_by_user && reason == Qt::TabFocusReason;
        } else if (event->type() == QEvent::FocusIn && std::exchange(is_lost_, false) && isButton(widget)) {
            // Queued, because the focus cannot be moved while this event is handled.
            QMetaObject::invokeMethod(
                this,
                [button = QPointer<QWidget>(widget)] {
                    if (button && button->hasFocus()) moveOn(*button);
                },
                Qt::QueuedConnection);
        }
        return false;
    }

  private:
    static bool isButton(const QWidget* widget) {
        return qobject_cast<const QAbstractButton*>(widget) != nullptr;
    }

    static void moveOn(QWidget& button) {
        for (QWidget* next = button.nextInFocusChain(); next != &button; next = next->nextInFocusChain()) {
            const bool accepts_focus = next->isEnabled() && next->isVisible() &&
                                       (next->focusPolicy() & Qt::TabFocus) == Qt::TabFocus;
            if (accepts_focus && !isButton(next)) return next->setFocus(Qt::TabFocusReason);
        }
        button.clearFocus();
    }

    bool is_lost_ = false;
};

}  // namespace roper
