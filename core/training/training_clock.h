#pragma once

#include <chrono>

#include "core/training/stopped_time.h"

namespace roper {

/// Measures the training time in seconds. Excludes intervals inside a (possibly nested) `Rest` (pauses,
/// evaluations, checkpoints), and the time for which the process was stopped.
class TrainingClock {
  public:
    /// Starts the clock, with `seconds` from earlier sessions.
    void start(double seconds) {
        before_ = seconds;
        since_ = now();
    }

    double seconds() const { return rests_ > 0 ? before_ : before_ + sinceStart(); }

    /// Stops the clock during its lifetime.
    class Rest {
      public:
        explicit Rest(TrainingClock& clock) : clock_(clock) {
            if (clock_.rests_ == 0) clock_.before_ += clock_.sinceStart();
            ++clock_.rests_;
        }
        ~Rest() {
            if (--clock_.rests_ == 0) clock_.since_ = now();
        }
        Rest(const Rest&) = delete;
        Rest& operator=(const Rest&) = delete;

      private:
        TrainingClock& clock_;
    };

  private:
    /// Seconds, from an arbitrary origin, in which the process was not stopped.
    static double now() {
        const double stopped = stoppedSeconds();
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() -
               stopped;
    }
    double sinceStart() const { return now() - since_; }

    double before_ = 0;
    double since_ = now();
    int rests_ = 0;
};

}  // namespace roper
