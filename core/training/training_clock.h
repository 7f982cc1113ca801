#pragma once

#include <chrono>

namespace roper {

/// Counts the seconds that a run trains. Stretches inside a `Rest` (pauses, evaluations, checkpoints) are
/// left out, also where one lies within another.
class TrainingClock {
  public:
    /// Begins to count now, after `seconds` of earlier sessions.
    void start(double seconds) {
        before_ = seconds;
        since_ = Clock::now();
    }

    double seconds() const { return rests_ > 0 ? before_ : before_ + sinceStart(); }

    /// Holds the clock while it lives.
    class Rest {
      public:
        explicit Rest(TrainingClock& clock) : clock_(clock) {
            if (clock_.rests_ == 0) clock_.before_ += clock_.sinceStart();
            ++clock_.rests_;
        }
        ~Rest() {
            if (--clock_.rests_ == 0) clock_.since_ = Clock::now();
        }
        Rest(const Rest&) = delete;
        Rest& operator=(const Rest&) = delete;

      private:
        TrainingClock& clock_;
    };

  private:
    using Clock = std::chrono::steady_clock;
    double sinceStart() const { return std::chrono::duration<double>(Clock::now() - since_).count(); }

    double before_ = 0;
    Clock::time_point since_ = Clock::now();
    int rests_ = 0;
};

}  // namespace roper
