#pragma once

#include <time.h>

#include <QFile>
#include <QTimer>
#include <algorithm>

namespace roper {

/// Measures how long the event loop of this thread did not come round: the longest time between two looks of
/// a timer, without the time for which the thread was ready and other programs had the cores.
class EventLoopWatch {
  public:
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

  private:
    static constexpr int kBetweenLooks_ms = 5;

    struct Moment {
        double clock_ms, waited_ms;
    };

    static Moment moment() {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        // proc(5): time on a core, time waiting for one, both in ns, and how often.
        QFile file(QStringLiteral("/proc/thread-self/schedstat"));
        const QList<QByteArray> numbers =
            file.open(QIODevice::ReadOnly) ? file.readAll().split(' ') : QList<QByteArray>();
        return {static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6,
                numbers.size() > 1 ? numbers[1].toDouble() / 1e6 : 0};
    }

    void look() {
        const Moment now = moment();
        const double gap = now.clock_ms - at_.clock_ms - (now.waited_ms - at_.waited_ms) - kBetweenLooks_ms;
        longest_ms_ = std::max(longest_ms_, gap);
        at_ = now;
    }

    QTimer timer_;
    Moment at_{};
    double longest_ms_ = 0;
};

}  // namespace roper
