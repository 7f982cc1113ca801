#pragma once

#include <QObject>
#include <QString>

#include "core/control/messages.h"

namespace roper {

/// Sends one command to a trainer's control socket without blocking; the answer arrives as a signal.
class ControlClient : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    void send(const QString& socket, const Request& request);
    void send(const QString& socket, Command command) { send(socket, Request{command}); }

    /// Whether the trainer itself answered, as opposed to being unreachable.
    bool wasAnswered() const { return answered_by_trainer_; }

  signals:
    /// @param payload  bytes that follow the answer; empty for most commands
    void answered(bool ok, const QString& message, const QByteArray& payload);

  private:
    bool answered_by_trainer_ = false;
};

}  // namespace roper
