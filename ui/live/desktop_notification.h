#pragma once

#include <QString>

namespace roper {

/// Shows a desktop notification over D-Bus, following freedesktop.org's specification. Does not block, and
/// does nothing if there is no bus or no notification service.
void notifyDesktop(const QString& title, const QString& text);

}  // namespace roper
