#pragma once

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QScrollArea>
#include <QScrollBar>

namespace roper {

/// An event filter of the whole program: the wheel scrolls what can be scrolled, and changes no box that
/// happens to come under the pointer meanwhile.
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

}  // namespace roper
