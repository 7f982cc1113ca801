#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QThread>
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

// Shared by benchmarks of a window next to real training.

namespace roper {

/// Real trainers that keep all cores busy, at the priority that the window gives them; the destructor ends
/// them.
class BusyMachine {
  public:
    /// One trainer on all cores, or one single-threaded trainer per core.
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

/// Runs the event loop for a while. @returns the longest time without a reaction, in milliseconds
/// @param drive  called sixty times a second between events, to simulate a user
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
