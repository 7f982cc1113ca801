#include "ui/runs/head_source.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTimer>
#include <cstring>

#include "core/runs/error.h"
#include "core/runs/safetensors.h"
#include "core/runs/text.h"
#include "ui/runs/trainer_launcher.h"

namespace roper {
namespace {

/// A [rows × columns] tensor of float32. @throws Error (checkpoint)
Eigen::MatrixXd matrixOf(const SafetensorsFile& file, const std::string& name) {
    const SafetensorsFile::Tensor& tensor = file.tensor(name);
    if (tensor.dtype != Dtype::F32 || tensor.shape.size() != 2)
        throw Error(ErrorKind::checkpoint, "the trainer's \"" + name + "\" is not a matrix of float32");
    const Eigen::Index rows = tensor.shape[0], columns = tensor.shape[1];
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> read(rows, columns);
    std::memcpy(read.data(), tensor.bytes.data(), tensor.bytes.size());
    return read.cast<double>();
}

double numberOf(const SafetensorsFile& file, const std::string& key) {
    const auto value = parseNumber(file.entry(key));
    if (!value) throw Error(ErrorKind::checkpoint, "the trainer's \"" + key + "\" is not a number");
    return *value;
}

RunHead readHead(const HeadQuestion& question, const QByteArray& payload) {
    const SafetensorsFile file = SafetensorsFile::parse(payload.toStdString(), "the trainer's answer");
    RunHead head;
    head.question = question;
    head.vectors = {matrixOf(file, "q"), matrixOf(file, "k"), matrixOf(file, "v")};
    const auto& [q, k, v] = head.vectors;
    if (q.size() == 0 || k.rows() != q.rows() || v.rows() != q.rows() || k.cols() != q.cols() ||
        v.cols() != q.cols())
        throw Error(ErrorKind::checkpoint, "the trainer's q, k and v differ in shape");
    head.step = static_cast<std::int64_t>(numberOf(file, "step"));
    head.layers = static_cast<int>(numberOf(file, "layers"));
    head.heads = static_cast<int>(numberOf(file, "heads"));
    head.position = file.entry("position");
    head.pairing = file.entry("pairing");
    head.schedule = file.entry("schedule");
    head.base = numberOf(file, "base");
    head.rotary_fraction = numberOf(file, "rotary_fraction");
    head.value_rotary_fraction = numberOf(file, "value_rotary_fraction");
    return head;
}

}  // namespace

HeadSource::HeadSource(RunStore& store, QObject* parent) : QObject(parent), store_(store) {}

HeadSource::~HeadSource() {
    retireServer();
}

void HeadSource::ask(const HeadQuestion& question) {
    question_ = question;
    ++asked_;
    tried_again_ = false;
    askNow();
}

void HeadSource::askNow() {
    const HeadQuestion& question = question_;
    const RunWatcher* run = store_.find(question.run);
    if (run == nullptr) {
        emit failed(question.run.isEmpty()
                        ? tr("Choose a run.")
                        : tr("There is no run “%1” in the runs folder.").arg(question.run));
        return;
    }
    const QString trainer = QString::fromStdString(run->status().control);
    if (run->isActive() && !trainer.isEmpty()) {
        retireServer();
        return send(trainer);
    }
    const bool serves = server_ && server_run_ == question.run && server_step_ == run->step();
    if (!serves) return startServer(*run);
    if (!server_socket_.isEmpty()) send(server_socket_);  // otherwise it is asked as soon as it listens
}

void HeadSource::send(const QString& socket) {
    if (client_) {  // it waits for the answer to an older question
        client_->disconnect(this);
        client_->deleteLater();
    }
    auto* client = new ControlClient(this);
    client_ = client;
    connect(client, &ControlClient::answered, this,
            [this, client, number = asked_](bool ok, const QString& message, const QByteArray& payload) {
                client->deleteLater();
                if (number != asked_) return;  // another question was asked since
                if (ok) return take(payload);
                const RunWatcher* run = store_.find(question_.run);
                if (client->wasAnswered() || tried_again_ || run == nullptr || !run->isActive()) {
                    emit failed(message);
                    return;
                }
                // A trainer that ended between two steps leaves a checkpoint, which can be asked instead.
                tried_again_ = true;
                constexpr int kUntilItsEndIsSeen_ms = 1500;
                QTimer::singleShot(kUntilItsEndIsSeen_ms, this, [this, number] {
                    if (number == asked_) askNow();
                });
            });
    Request request{Command::head, "1"};
    request.layer = question_.layer;
    request.head = question_.head;
    request.text = question_.text.toStdString();
    client->send(socket, request);
}

void HeadSource::take(const QByteArray& payload) {
    try {
        emit answered(readHead(question_, payload));
    } catch (const Error& error) {
        emit failed(QString::fromStdString(error.what()));
    }
}

void HeadSource::startServer(const RunWatcher& run) {
    retireServer();
    const QString program = TrainerLauncher::trainerProgram();
    if (program.isEmpty()) {
        emit failed(
            tr("The trainer roper-train is neither beside this program nor on the PATH; build it with ./lab "
               "run."));
        return;
    }
    server_ = new QProcess;
    server_run_ = run.name();
    server_step_ = run.step();
    QProcess* process = server_;
    connect(process, &QProcess::readyReadStandardOutput, this, &HeadSource::readServer);
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    connect(process, &QProcess::finished, this, [this, process] {
        const QString why = QString::fromUtf8(process->readAllStandardError()).trimmed();
        failServer(process,
                   why.isEmpty() ? tr("roper-train serve ended unexpectedly.") : why.section('\n', -1));
    });
    connect(process, &QProcess::errorOccurred, this, [this, process](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;  // others are followed by `finished`
        failServer(process, tr("roper-train could not be started: %1").arg(process->errorString()));
        process->deleteLater();
    });
    constexpr int kPatience_ms = 60000;  // a large checkpoint on a slow disk takes a while
    QTimer::singleShot(kPatience_ms, process, [this, process] {
        if (process != server_ || !server_socket_.isEmpty()) return;
        failServer(process, tr("roper-train serve has not answered for a minute."));
        process->kill();
    });
    process->start(program,
                   {"serve", QString::fromStdString(std::filesystem::absolute(run.folder().path()).string()),
                    "--json", "--with-parent"});
}

void HeadSource::failServer(QProcess* process, const QString& why) {
    if (process != server_) return;
    server_ = nullptr;
    server_socket_.clear();
    emit failed(why);
}

/// Lets the server end by itself: nobody waits for it.
void HeadSource::retireServer() {
    server_socket_.clear();
    if (!server_) return;
    QProcess* process = server_;
    server_ = nullptr;
    process->disconnect(this);
    process->closeWriteChannel();
    if (process->state() == QProcess::NotRunning) process->deleteLater();
}

void HeadSource::readServer() {
    while (server_ && server_->canReadLine()) {
        const QJsonObject said = QJsonDocument::fromJson(server_->readLine()).object();
        if (said["event"] != "listening") continue;
        server_socket_ = said["socket"].toString();
        send(server_socket_);
    }
}

}  // namespace roper
