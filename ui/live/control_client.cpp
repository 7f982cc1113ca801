#include "ui/live/control_client.h"

#include <QLocalSocket>
#include <QTimer>
#include <memory>

#include "core/base/error.h"
#include "core/control/socket_path.h"

namespace roper {
namespace {

constexpr int kTimeout_ms = 60000;  // a step of a large model takes several seconds, and is completed first

}  // namespace

void ControlClient::send(const QString& path, const Request& request) {
    auto* socket = new QLocalSocket(this);
    auto* timeout_timer = new QTimer(socket);
    auto received = std::make_shared<QByteArray>();
    const auto finish = [this, socket](bool ok, const QString& message, const QByteArray& payload = {}) {
        socket->disconnect(this);
        socket->abort();
        socket->deleteLater();
        emit answered(ok, message, payload);
    };
    connect(socket, &QLocalSocket::connected, this,
            [socket, request] { socket->write(QByteArray::fromStdString(formatRequest(request) + "\n")); });
    connect(socket, &QLocalSocket::readyRead, this, [this, socket, path, received, finish] {
        *received += socket->readAll();
        const qsizetype end = received->indexOf('\n');
        const auto longest = static_cast<qsizetype>(kMaxMessageLineBytes);
        if (end > longest || (end < 0 && received->size() > longest))
            return finish(false, tr("the trainer's answer is too long"));
        if (!received->startsWith('{'))
            return finish(
                false,
                tr("the program at %1 is not a RoPER Lab trainer, or is a different version").arg(path));
        if (end < 0) return;
        try {
            const ReplyLine line =
                parseReply(std::string_view(received->constData(), static_cast<std::size_t>(end)));
            const auto whole = end + 1 + static_cast<qsizetype>(line.payload_size);
            if (received->size() < whole) return;
            answered_by_trainer_ = true;
            finish(line.reply.ok, QString::fromStdString(line.reply.message),
                   received->mid(end + 1, whole - end - 1));
        } catch (const Error& error) {
            finish(false,
                   tr("the trainer's answer cannot be read: %1").arg(QString::fromStdString(error.what())));
        }
    });
    connect(socket, &QLocalSocket::errorOccurred, this, [socket, finish] {
        finish(false, tr("the trainer does not respond: %1").arg(socket->errorString()));
    });
    connect(timeout_timer, &QTimer::timeout, this, [finish] {
        finish(false, tr("the trainer has not responded for a minute; it may be busy with a long step"));
    });
    timeout_timer->setSingleShot(true);
    if (!isOwnControlSocket(path.toStdString())) {
        // Reported asynchronously, like all answers.
        QTimer::singleShot(0, socket, [finish, path] {
            finish(false, tr("%1 is not the control socket of a trainer that you started").arg(path));
        });
        return;
    }
    if (request.command != Command::question) timeout_timer->start(kTimeout_ms);  // a look may take any time
    socket->connectToServer(path);
}

}  // namespace roper
