#include "core/training/training_clock.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

namespace roper {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(50);

// Nothing runs while the process is stopped, so the interval between the last tick and the signal that
// continues it is, to within a tick, the time for which it was stopped. A long interval without that signal
// only means that the machine was busy.
std::atomic<int> continued = 0;  // number of SIGCONT signals
static_assert(std::atomic<int>::is_always_lock_free);

void onContinue(int) {
    continued.fetch_add(1);
}

class StoppedTime {
  public:
    double update() {
        const std::lock_guard guard(mutex_);
        const Clock::time_point now = Clock::now();
        const int times = continued.load();
        if (times != seen_ && now - last_tick_ > 2 * kTick) stopped_ += now - last_tick_ - kTick;
        seen_ = times;
        last_tick_ = now;
        return std::chrono::duration<double>(stopped_).count();
    }

  private:
    std::mutex mutex_;
    Clock::time_point last_tick_ = Clock::now();
    Clock::duration stopped_{};
    int seen_ = continued.load();
};

StoppedTime& stoppedTime() {
    static auto* const time = new StoppedTime;  // never destroyed, since the thread outlives main
    return *time;
}

std::atomic<bool> is_watched = false;

}  // namespace

void watchStoppedTime() {
    if (is_watched.exchange(true)) return;
    struct sigaction action {};
    action.sa_handler = onContinue;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGCONT, &action, nullptr);
    stoppedTime();
    std::thread([] {
        while (true) {
            stoppedTime().update();
            std::this_thread::sleep_for(kTick);
        }
    }).detach();
}

double stoppedSeconds() {
    return is_watched ? stoppedTime().update() : 0;
}

}  // namespace roper
