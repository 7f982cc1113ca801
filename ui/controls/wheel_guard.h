#pragma once

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QScrollArea>
#include <QScrollBar>

namespace roper {

/// An application-wide event filter: in a scroll area the wheel always scrolls, and does not change spin and
/// combo boxes that come under the pointer.
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
