#pragma once

#include <QProcess>

#include "core/base/this_process.h"
#include "core/runs/run_recorder.h"

namespace roper {

/// A shell process that poses as a run's trainer.
class FakeTrainer {
  public:
    explicit FakeTrainer(const QString& script) {
        shell_.start("/bin/sh", {"-c", script});
        if (!shell_.waitForStarted()) qFatal("/bin/sh does not start");
    }
    ~FakeTrainer() {
        shell_.kill();
        shell_.waitForFinished();
    }
    FakeTrainer(const FakeTrainer&) = delete;
    FakeTrainer& operator=(const FakeTrainer&) = delete;

    /// Writes the run's status as its trainer would.
    void beat(const RunFolder& run) const {
        Status status;
        status.state = RunState::running;
        status.steps = 100;
        stampWithThisProcess(status);
        status.pid = shell_.processId();
        status.process_start = processStart(status.pid);
        writeStatus(run.statusPath(), status);
    }

    /// Sends a line to the script.
    void sendLine(const QByteArray& line) { shell_.write(line + "\n"); }

  private:
    QProcess shell_;
};

}  // namespace roper
