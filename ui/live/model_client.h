#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>
#include <optional>

#include "ui/live/control_client.h"
#include "ui/live/run_store.h"

namespace roper {

/// A question about the model of a run.
struct ModelQuestion {
    QString run;
    Request request;
    std::optional<std::int64_t> step = {};  ///< of a checkpoint; nothing asks the model as it is now
};

/// Asks models: the run's own trainer through its control socket while it trains, otherwise a `roper-train
/// serve` that is started for it and kept for further questions. Never waits; the newest question counts.
class ModelClient : public QObject {
    Q_OBJECT

  public:
    ModelClient(RunStore& store, QObject* parent);
    ~ModelClient() override;

    void ask(const ModelQuestion& question);

  signals:
    void answered(const roper::ModelQuestion& question, const QByteArray& payload);
    void failed(const QString& why);

  private:
    void askNow();
    void send(const QString& socket);
    void startServer(const RunWatcher& run);
    void retireServer();
    void readServer();
    void failServer(QProcess* process, const QString& why);

    RunStore& store_;
    ModelQuestion question_;
    int asked_ = 0;  ///< number of the newest question
    bool tried_again_ = false;
    QPointer<ControlClient> client_;  ///< that waits for the newest answer
    QPointer<QProcess> server_;
    QString server_run_, server_socket_;
    std::optional<std::int64_t> server_checkpoint_;
    std::int64_t server_step_ = -1;  ///< of the run when the server was started
};

}  // namespace roper
