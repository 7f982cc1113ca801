#pragma once

#include <QString>

namespace roper {

/// Shows a message on the desktop, over D-Bus as freedesktop.org's specification of notifications says. Does
/// not wait; where there is no bus, or nothing on it that shows messages, nothing happens.
void notifyDesktop(const QString& title, const QString& text);

}  // namespace roper
