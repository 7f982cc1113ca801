#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QString>

#include "core/rotary/head_vectors.h"
#include "ui/runs/control_client.h"
#include "ui/runs/run_store.h"

namespace roper {

/// One head of a run's model reading a text.
struct HeadQuestion {
    QString run;
    int layer = 0, head = 0;
    QString text;

    bool operator==(const HeadQuestion&) const = default;
};

/// What the model says: q, k and v before any rotation, and how it goes on from there.
struct RunHead {
    HeadQuestion question;
    HeadVectors vectors;
    std::int64_t step = 0;
    int layers = 0, heads = 0;
    std::string position, pairing, schedule;  ///< as in the run's specification
    double base = 0, rotary_fraction = 1, value_rotary_fraction = 1;
};

/// Gets q, k and v of a head from a run: from its trainer's control socket while it trains, otherwise from a
/// `roper-train serve` of its own. Never waits; the newest question counts.
class HeadSource : public QObject {
    Q_OBJECT

  public:
    HeadSource(RunStore& store, QObject* parent);
    ~HeadSource() override;

    void ask(const HeadQuestion& question);

  signals:
    void answered(const roper::RunHead& head);
    void failed(const QString& why);

  private:
    void askNow();
    void send(const QString& socket);
    void startServer(const RunWatcher& run);
    void retireServer();
    void readServer();
    void take(const QByteArray& payload);
    void failServer(QProcess* process, const QString& why);

    RunStore& store_;
    HeadQuestion question_;
    int asked_ = 0;  ///< number of the newest question
    bool tried_again_ = false;
    QPointer<ControlClient> client_;  ///< that waits for the newest answer
    QPointer<QProcess> server_;
    QString server_run_, server_socket_;
    std::int64_t server_step_ = -1;  ///< of the run when the server was started
};

}  // namespace roper
