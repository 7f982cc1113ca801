#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <optional>

#include "core/control/messages.h"
#include "ui/live/run_store.h"

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

/// A question about the model of a run, or about a published model.
struct ModelQuestion {
    QString run;  ///< name of the run, or absolute path of a GGUF file or Hugging Face folder
    Request request;
    std::optional<std::int64_t> step = {};  ///< step of a checkpoint; nothing: the current weights
};

/// Sends questions to models: to the run's trainer through its control socket while it trains and no
/// checkpoint is chosen, otherwise to a `roper-train serve`, which is started on demand and kept for further
/// questions. Never blocks; a new question replaces the pending one.
class ModelClient : public QObject {
    Q_OBJECT

  public:
    ModelClient(RunStore& store, QObject* parent);
    ~ModelClient() override;

    /// Sends a question; `answered` or `failed` follows.
    void ask(const ModelQuestion& question);
    /// Cancels the pending question and the work on it.
    void cancel();
    /// Cancels, and stops the server, which frees its memory.
    void close();

  signals:
    void answered(const roper::ModelQuestion& question, const QByteArray& payload);
    void failed(const QString& why);
    /// Progress of the pending question, such as the number of layers done.
    void progressed(int done, int all);

  private:
    void sendQuestion();
    void send(const QString& socket);
    void startServer(const QString& model, std::int64_t step);
    void dropClient();
    void fail(const QString& why);
    void retireServer();
    void readServer();
    void failServer(QProcess* process, const QString& why);

    RunStore& store_;
    ModelQuestion question_;
    int question_number_ = 0;         ///< number of the latest question
    bool retried_ = false;            ///< whether the latest question has been sent a second time
    bool is_waiting_ = false;         ///< for the answer to the latest question
    QPointer<ControlClient> client_;  ///< waits for the latest answer
    QPointer<QProcess> server_;
    QString server_run_, server_socket_;
    std::optional<std::int64_t> server_checkpoint_;  ///< as `ModelQuestion::step`
    std::int64_t server_step_ = -1;  ///< of the run when the server was started; −1: published model
};

}  // namespace roper
