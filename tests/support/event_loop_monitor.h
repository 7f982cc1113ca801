#pragma once

#include <time.h>

#include <QFile>
#include <QTimer>
#include <algorithm>

namespace roper {

/// Measures how long this thread's event loop did not run: the time between two ticks of a timer, minus the
/// time in which the thread was ready but other programs used the cores. A machine that stalls for a moment
/// (disk, other guests on the host) looks like a stalled window, but not twice at the same point; gaps are
/// therefore also counted.
class EventLoopMonitor {
  public:
    /// The shortest delay that a user notices.
    static constexpr double kNoticeable_ms = 100;

    EventLoopMonitor() {
        timer_.setTimerType(Qt::PreciseTimer);
        QObject::connect(&timer_, &QTimer::timeout, [this] { sample(); });
    }

    void start() {
        at_ = takeSample();
        timer_.start(kSampleInterval_ms);
    }
    void stop() {
        if (timer_.isActive()) sample();
        timer_.stop();
    }
    double longest_ms() const { return longest_ms_; }
    /// Time within the longest gap that this thread spent computing.
    double computed_ms() const { return computed_ms_; }
    /// Number of gaps of at least kNoticeable_ms.
    int noticedGaps() const { return noticed_gaps_; }
    void resetGaps() { longest_ms_ = computed_ms_ = noticed_gaps_ = 0; }

  private:
    static constexpr int kSampleInterval_ms = 5;

    struct ClockSample {
        double clock_ms, computed_ms, waited_ms;
    };

    static ClockSample takeSample() {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        // proc(5): time on a core and time waiting for one, both in ns, and the number of time slices.
        QFile file(QStringLiteral("/proc/thread-self/schedstat"));
        const QList<QByteArray> numbers =
            file.open(QIODevice::ReadOnly) ? file.readAll().split(' ') : QList<QByteArray>();
        const bool is_known = numbers.size() > 1;
        return {static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6,
                is_known ? numbers[0].toDouble() / 1e6 : 0, is_known ? numbers[1].toDouble() / 1e6 : 0};
    }

    void sample() {
        const ClockSample now = takeSample();
        const double gap = now.clock_ms - at_.clock_ms - (now.waited_ms - at_.waited_ms) - kSampleInterval_ms;
        if (gap > longest_ms_) {
            longest_ms_ = gap;
            computed_ms_ = now.computed_ms - at_.computed_ms;
        }
        if (gap >= kNoticeable_ms) ++noticed_gaps_;
        at_ = now;
    }

    QTimer timer_;
    ClockSample at_{};
    double longest_ms_ = 0, computed_ms_ = 0;
    int noticed_gaps_ = 0;
};

}  // namespace roper
