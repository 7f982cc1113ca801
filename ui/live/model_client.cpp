#include "ui/live/model_client.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocalSocket>
#include <QTimer>
#include <memory>
#include <utility>

#include "core/base/crash_report.h"
#include "core/base/error.h"
#include "core/control/socket_path.h"
#include "ui/live/trainer_launcher.h"

namespace roper {
namespace {

constexpr int kTimeout_ms = 60000;  // a step of a large model takes several seconds, and is completed first

/// Why a server has ended.
QString endOf(QProcess& process) {
    const QString why = QString::fromUtf8(process.readAllStandardError()).trimmed().section('\n', -1);
    if (process.exitStatus() == QProcess::CrashExit)
        return ModelClient::tr("roper-train serve was terminated by %1. %2")
            .arg(QString::fromStdString(signalName(process.exitCode())), why)
            .trimmed();
    return why.isEmpty() ? ModelClient::tr("roper-train serve ended unexpectedly.") : why;
}

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
    if (request.command != Command::question)
        timeout_timer->start(kTimeout_ms);  // a question may take any time
    socket->connectToServer(path);
}

ModelClient::ModelClient(RunStore& store, QObject* parent) : QObject(parent), store_(store) {}

ModelClient::~ModelClient() {
    retireServer();
}

void ModelClient::ask(const ModelQuestion& question) {
    question_ = question;
    ++question_number_;
    is_waiting_ = true;
    retried_ = false;
    sendQuestion();
}

void ModelClient::cancel() {
    ++question_number_;
    is_waiting_ = false;
    dropClient();
}

void ModelClient::close() {
    cancel();
    retireServer();
}

void ModelClient::sendQuestion() {
    const ModelQuestion& question = question_;
    const RunWatcher* run = store_.find(question.run);
    const bool is_published = run == nullptr && QFileInfo(question.run).isAbsolute();
    if (run == nullptr && !is_published) {
        return fail(question.run.isEmpty() ? tr("Choose a run.")
                                           : tr("No run “%1” in the runs folder.").arg(question.run));
    }
    const QString trainer =
        run != nullptr && run->isActive() ? QString::fromStdString(run->status().control) : QString();
    if (!trainer.isEmpty() && !question.step) {
        retireServer();
        return send(trainer);
    }
    const std::int64_t step = run != nullptr ? run->step() : -1;
    const bool serves = server_ && server_run_ == question.run && server_checkpoint_ == question.step &&
                        (question.step || server_step_ == step);
    if (!serves)
        return startServer(
            is_published ? question.run
                         : QString::fromStdString(std::filesystem::absolute(run->folder().path()).string()),
            step);
    if (!server_socket_.isEmpty()) send(server_socket_);  // otherwise once the server listens
}

/// Closes the connection that waits for an answer, which cancels the question.
void ModelClient::dropClient() {
    if (!client_) return;
    client_->disconnect(this);
    client_->deleteLater();
    client_ = nullptr;
}

void ModelClient::send(const QString& socket) {
    dropClient();  // it waits for the answer to an older question
    auto* client = new ControlClient(this);
    client_ = client;
    connect(client, &ControlClient::answered, this,
            [this, client, number = question_number_](bool ok, const QString& message,
                                                      const QByteArray& payload) {
                client->deleteLater();
                if (number != question_number_) return;  // superseded by a newer question
                if (ok) {
                    is_waiting_ = false;
                    emit answered(question_, payload);
                    return;
                }
                if (!client->wasAnswered() && server_) {
                    // If the server is ending, `failServer` reports the reason a moment later.
                    constexpr int kUntilServerEnds_ms = 1000;
                    QTimer::singleShot(kUntilServerEnds_ms, this, [this, number, message] {
                        if (number == question_number_) fail(message);
                    });
                    return;
                }
                const RunWatcher* run = store_.find(question_.run);
                if (client->wasAnswered() || retried_ || run == nullptr || !run->isActive())
                    return fail(message);
                // A trainer that has just ended leaves a checkpoint, which a server can read instead.
                retried_ = true;
                constexpr int kUntilEndIsSeen_ms = 1500;
                QTimer::singleShot(kUntilEndIsSeen_ms, this, [this, number] {
                    if (number == question_number_) sendQuestion();
                });
            });
    client->send(socket, question_.request);
}

/// @param step  current step of the run
void ModelClient::startServer(const QString& model, std::int64_t step) {
    retireServer();
    const QString program = TrainerLauncher::trainerProgram();
    if (program.isEmpty()) {
        return fail(
            tr("The trainer roper-train is neither next to this program nor on the PATH; build it with ./lab "
               "run."));
    }
    server_ = new QProcess;
    server_run_ = question_.run;
    server_step_ = step;
    server_checkpoint_ = question_.step;
    QProcess* process = server_;
    connect(process, &QProcess::readyReadStandardOutput, this, &ModelClient::readServer);
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    connect(process, &QProcess::finished, this, [this, process] { failServer(process, endOf(*process)); });
    connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;  // all other errors are followed by `finished`
        failServer(process, tr("roper-train could not be started: %1").arg(process->errorString()));
        process->deleteLater();
    });
    constexpr int kTimeout_ms = 60000;  // loading a large checkpoint from a slow disk takes a while
    QTimer::singleShot(kTimeout_ms, this, [this, process = QPointer<QProcess>(process)] {
        if (!process || process != server_ || !server_socket_.isEmpty()) return;
        failServer(process, tr("roper-train serve has not responded for a minute."));
        process->kill();
    });
    QStringList arguments{"serve", model, "--json", "--with-parent"};
    if (question_.step) arguments << "--step" << QString::number(*question_.step);
    process->start(program, arguments);
}

void ModelClient::failServer(QProcess* process, const QString& why) {
    if (process != server_) return;
    server_ = nullptr;
    server_socket_.clear();
    fail(why);
}

/// Reports the failure once, and only if an answer is pending.
void ModelClient::fail(const QString& why) {
    if (std::exchange(is_waiting_, false)) emit failed(why);
}

/// Lets the server exit by itself, without waiting.
void ModelClient::retireServer() {
    server_socket_.clear();
    if (!server_) return;
    QProcess* process = server_;
    server_ = nullptr;
    process->disconnect(this);
    process->closeWriteChannel();
    if (process->state() == QProcess::NotRunning) process->deleteLater();
}

void ModelClient::readServer() {
    while (server_ && server_->canReadLine()) {
        const QJsonDocument line = QJsonDocument::fromJson(server_->readLine());
        if (!line.isObject()) {
            QProcess* process = server_;
            failServer(process, tr("“%1 serve” gave an unexpected answer; it may be a different version.")
                                    .arg(process->program()));
            process->kill();
            return;
        }
        const QJsonObject message = line.object();
        if (message["event"] == "progress" && client_)
            emit progressed(message["done"].toInt(), message["all"].toInt());
        if (message["event"] != "listening") continue;
        server_socket_ = message["socket"].toString();
        if (is_waiting_) send(server_socket_);
    }
}

}  // namespace roper
