#pragma once

#include <QString>

namespace roper {

/// An input with the name that screen readers and tests know it by, and its help.
template <class Widget>
Widget* named(Widget* widget, const QString& name, const QString& help) {
    widget->setAccessibleName(name);
    widget->setToolTip(help);
    return widget;
}
/// The same where the name says all.
template <class Widget>
Widget* named(Widget* widget, const QString& name) {
    return named(widget, name, name);
}

}  // namespace roper
