#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <optional>

#include "ui/live/control_client.h"
#include "ui/live/run_store.h"

namespace roper {

/// A question about the model of a run, or about a published one.
struct ModelQuestion {
    QString run;  ///< its name, or the absolute path of a GGUF file or a Hugging Face folder
    Request request;
    std::optional<std::int64_t> step = {};  ///< of a checkpoint; nothing asks the model as it is now
};

/// Asks models: the run's own trainer through its control socket while it trains and no checkpoint is chosen,
/// otherwise a `roper-train serve` that is started for it and kept for further questions. Never waits; the
/// newest question counts.
class ModelClient : public QObject {
    Q_OBJECT

  public:
    ModelClient(RunStore& store, QObject* parent);
    ~ModelClient() override;

    void ask(const ModelQuestion& question);
    /// Nobody waits for the answer any more: the work on it ends.
    void cancel();
    /// The same, and no further question will follow: a server goes, and with it the memory that it takes.
    void close();

  signals:
    void answered(const roper::ModelQuestion& question, const QByteArray& payload);
    void failed(const QString& why);
    /// How far the answer to a `look` is.
    void progressed(int done, int all);

  private:
    void askNow();
    void send(const QString& socket);
    void startServer(const QString& model, std::int64_t step);
    void forgetClient();
    void fail(const QString& why);
    void retireServer();
    void readServer();
    void failServer(QProcess* process, const QString& why);

    RunStore& store_;
    ModelQuestion question_;
    int asked_ = 0;  ///< number of the newest question
    bool tried_again_ = false;
    bool waits_ = false;              ///< for the answer to the newest question
    QPointer<ControlClient> client_;  ///< that waits for the newest answer
    QPointer<QProcess> server_;
    QString server_run_, server_socket_;
    std::optional<std::int64_t> server_checkpoint_;
    std::int64_t server_step_ = -1;  ///< of the run when the server was started; −1 of a published model
};

}  // namespace roper
