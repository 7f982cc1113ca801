#pragma once

#include <time.h>

#include <QFile>
#include <QTimer>
#include <algorithm>

namespace roper {

/// Measures how long the event loop of this thread did not come round: the times between two looks of a
/// timer, without the time for which the thread was ready and other programs had the cores. A machine that
/// stands still for a moment (a disk, a host with other guests) looks like a window that does, but not twice
/// in the same place: so gaps are counted, too.
class EventLoopWatch {
  public:
    /// What somebody at the window notices.
    static constexpr double kNoticed_ms = 100;

    EventLoopWatch() {
        timer_.setTimerType(Qt::PreciseTimer);
        QObject::connect(&timer_, &QTimer::timeout, [this] { look(); });
    }

    void start() {
        at_ = moment();
        timer_.start(kBetweenLooks_ms);
    }
    void stop() {
        if (timer_.isActive()) look();
        timer_.stop();
    }
    double longest_ms() const { return longest_ms_; }
    /// How much of the longest gap this thread spent computing.
    double computed_ms() const { return computed_ms_; }
    /// How many gaps were of kNoticed_ms or more.
    int noticedGaps() const { return noticed_gaps_; }
    void forgetGaps() { longest_ms_ = computed_ms_ = noticed_gaps_ = 0; }

  private:
    static constexpr int kBetweenLooks_ms = 5;

    struct Moment {
        double clock_ms, computed_ms, waited_ms;
    };

    static Moment moment() {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        // proc(5): time on a core, time waiting for one, both in ns, and how often.
        QFile file(QStringLiteral("/proc/thread-self/schedstat"));
        const QList<QByteArray> numbers =
            file.open(QIODevice::ReadOnly) ? file.readAll().split(' ') : QList<QByteArray>();
        const bool is_known = numbers.size() > 1;
        return {static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6,
                is_known ? numbers[0].toDouble() / 1e6 : 0, is_known ? numbers[1].toDouble() / 1e6 : 0};
    }

    void look() {
        const Moment now = moment();
        const double gap = now.clock_ms - at_.clock_ms - (now.waited_ms - at_.waited_ms) - kBetweenLooks_ms;
        if (gap > longest_ms_) {
            longest_ms_ = gap;
            computed_ms_ = now.computed_ms - at_.computed_ms;
        }
        if (gap >= kNoticed_ms) ++noticed_gaps_;
        at_ = now;
    }

    QTimer timer_;
    Moment at_{};
    double longest_ms_ = 0, computed_ms_ = 0;
    int noticed_gaps_ = 0;
};

}  // namespace roper
