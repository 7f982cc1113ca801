#include "ui/runs/control_client.h"

#include <QLocalSocket>
#include <QTimer>
#include <memory>

#include "core/runs/error.h"

namespace roper {
namespace {

constexpr int kPatience_ms = 60000;  // a step of a large model takes several seconds, and is finished first

}  // namespace

void ControlClient::send(const QString& path, Command command) {
    auto* socket = new QLocalSocket(this);
    auto* patience = new QTimer(socket);
    auto framer = std::make_shared<LineFramer>();
    const auto finish = [this, socket](bool ok, const QString& message) {
        socket->disconnect(this);
        socket->abort();
        socket->deleteLater();
        emit answered(ok, message);
    };
    connect(socket, &QLocalSocket::connected, this, [socket, command] {
        socket->write(QByteArray::fromStdString(formatRequest({command, "1"}) + "\n"));
    });
    connect(socket, &QLocalSocket::readyRead, this, [socket, framer, finish] {
        const auto lines = framer->add(socket->readAll().toStdString());
        if (!lines) return finish(false, tr("the trainer's answer is too long"));
        if (lines->empty()) return;
        try {
            const Reply reply = parseReply(lines->front());
            finish(reply.ok, QString::fromStdString(reply.message));
        } catch (const Error& error) {
            finish(false, QString::fromStdString(error.what()));
        }
    });
    connect(socket, &QLocalSocket::errorOccurred, this, [socket, finish] {
        finish(false, tr("the trainer does not answer: %1").arg(socket->errorString()));
    });
    connect(patience, &QTimer::timeout, this, [finish] {
        finish(false, tr("the trainer has not answered for a minute; it may be in a long step"));
    });
    patience->setSingleShot(true);
    patience->start(kPatience_ms);
    socket->connectToServer(path);
}

}  // namespace roper
