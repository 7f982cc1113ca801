#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QStandardPaths>
#include <QWidget>
#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
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

}  // namespace roper
