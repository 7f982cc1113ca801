#include "ui/live/desktop_notification.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCall>
#include <QStringList>
#include <QVariantMap>

namespace roper {

void notifyDesktop(const QString& title, const QString& text) {
    constexpr uint kNew = 0;        // replaces no earlier message
    constexpr int kByDesktop = -1;  // default display time
    QDBusMessage message = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("/org/freedesktop/Notifications"),
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Notify"));
    const QVariantMap hints{{QStringLiteral("desktop-entry"), QStringLiteral("roper-lab")}};
    message << QStringLiteral("RoPER Lab") << kNew << QString() << title
            << text.toHtmlEscaped()  // the body may contain markup, and names of runs are arbitrary
            << QStringList() << hints << kByDesktop;
    QDBusConnection::sessionBus().asyncCall(message);
}

}  // namespace roper
