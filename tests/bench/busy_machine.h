#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QThread>
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

// What benches of a window beside real training share.

namespace roper {

/// Real trainers that keep every core busy, at the priority at which the window starts them; ended with this
/// object.
class BusyMachine {
  public:
    /// One that uses all cores, or as many as cores with a thread each.
    enum class With { one_trainer, many_trainers };

    BusyMachine(const QString& runs, const QString& preset, With with) {
        const QString program = QCoreApplication::applicationDirPath() + "/roper-train";
        const int count = with == With::one_trainer ? 1 : QThread::idealThreadCount();
        for (int i = 0; i < count; ++i) {
            auto* process = new QProcess;
            process->start("nice", {"-n", "10", program, "run", preset, "--steps", "1000000", "--threads",
                                    with == With::one_trainer ? "0" : "1", "--runs", runs, "--name",
                                    QStringLiteral("busy-%1").arg(i), "-q"});
            process->waitForStarted();
            trainers_.emplace_back(process);
        }
    }
    ~BusyMachine() {
        for (const auto& process : trainers_) {
            process->kill();
            process->waitForFinished();
        }
    }

  private:
    std::vector<std::unique_ptr<QProcess>> trainers_;
};

/// The event loop for a while; the longest time that it could not react, in milliseconds.
/// @param drive  called sixty times a second between events: what a person would do
inline double longestGap(int milliseconds, const std::function<void()>& drive = {}) {
    constexpr int kBetweenDrives = 16;
    QElapsedTimer whole, since_drive;
    whole.start();
    since_drive.start();
    double longest = 0;
    while (whole.elapsed() < milliseconds) {
        if (drive && since_drive.elapsed() >= kBetweenDrives) {
            since_drive.restart();
            drive();
        }
        QElapsedTimer gap;
        gap.start();
        QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
        longest = std::max(longest, static_cast<double>(gap.nsecsElapsed()) / 1e6);
        QThread::usleep(200);
    }
    return longest;
}

}  // namespace roper
