#pragma once

#include <QString>

namespace roper {

/// Sets the accessible name of an input, which tests use as well, and its tooltip.
template <class Widget>
Widget* named(Widget* widget, const QString& name, const QString& help) {
    widget->setAccessibleName(name);
    widget->setToolTip(help);
    return widget;
}
/// The same if the name needs no further help.
template <class Widget>
Widget* named(Widget* widget, const QString& name) {
    return named(widget, name, name);
}

}  // namespace roper
