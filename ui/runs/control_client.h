#pragma once

#include <QObject>
#include <QString>

#include "core/control/messages.h"

namespace roper {

/// Sends one command to a trainer's control socket without ever waiting for it; the answer comes as a signal.
class ControlClient : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    void send(const QString& socket, Command command);

  signals:
    void answered(bool ok, const QString& message);
};

}  // namespace roper
