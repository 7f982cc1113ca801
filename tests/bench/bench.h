#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>
#include <QThread>
#include <QWidget>
#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <vector>

// Shared by the window's benchmarks: measurement, and a table of times next to their limits.

namespace roper {

struct Timing {
    double median, worst;
};

class Bench {
  public:
    /// Median and maximum of `times` calls, in milliseconds.
    static Timing measure(int times, const std::function<void(int)>& work) {
        std::vector<double> taken;
        for (int i = 0; i < times; ++i) {
            QElapsedTimer clock;
            clock.start();
            work(i);
            taken.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
        }
        std::sort(taken.begin(), taken.end());
        return {taken[taken.size() / 2], taken.back()};
    }

    void report(const std::string& what, const Timing& timing, double allowed_ms) {
        within_ = within_ && timing.median <= allowed_ms;
        std::cout << std::left << std::setw(58) << what << std::right << std::fixed << std::setprecision(2)
                  << std::setw(9) << timing.median << std::setw(9) << timing.worst << std::setw(9)
                  << allowed_ms << std::setw(8) << std::setprecision(0) << 100 * timing.median / allowed_ms
                  << " %\n";
    }

    bool within() const { return within_; }

  private:
    bool within_ = true;
};

/// Call before creating the application. No display is needed, and every style looks alike.
inline void prepareBench() {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication::setStyle("Fusion");
}

/// Uses empty settings and prints the header of the table.
inline void beginBench(const char* name) {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName("RoPER Lab tests");
    QCoreApplication::setApplicationName(name);
    QSettings().clear();
    std::cout << std::left << std::setw(58) << "what" << std::right << std::setw(9) << "median"
              << std::setw(9) << "worst" << std::setw(9) << "allowed"
              << "   share (ms)\n";
}

/// Processes and paints everything that a change causes.
inline void settle(QWidget& window) {
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
    window.repaint();
}

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
