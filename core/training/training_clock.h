#pragma once

#include <chrono>

namespace roper {

/// Starts measuring how long this process is stopped (SIGSTOP, SIGTSTP, a debugger), since that is not
/// training time. Further calls do nothing.
void watchStoppedTime();

/// Seconds for which the process has been stopped since `watchStoppedTime`, to within a tenth.
double stoppedSeconds();

/// Measures the training time in seconds. Excludes intervals inside a (possibly nested) `Suspension` (pauses,
/// evaluations, checkpoints), and the time for which the process was stopped.
class TrainingClock {
  public:
    /// Starts the clock, with `seconds` from earlier sessions.
    void start(double seconds) {
        earlier_seconds_ = seconds;
        started_at_ = now();
    }

    double seconds() const { return suspensions_ > 0 ? earlier_seconds_ : earlier_seconds_ + sinceStart(); }

    /// Stops the clock during its lifetime.
    class Suspension {
      public:
        explicit Suspension(TrainingClock& clock) : clock_(clock) {
            if (clock_.suspensions_ == 0) clock_.earlier_seconds_ += clock_.sinceStart();
            ++clock_.suspensions_;
        }
        ~Suspension() {
            if (--clock_.suspensions_ == 0) clock_.started_at_ = now();
        }
        Suspension(const Suspension&) = delete;
        Suspension& operator=(const Suspension&) = delete;

      private:
        TrainingClock& clock_;
    };

  private:
    /// Seconds since an arbitrary origin, without those for which the process was stopped.
    static double now() {
        const double stopped = stoppedSeconds();
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() -
               stopped;
    }
    double sinceStart() const { return now() - started_at_; }

    double earlier_seconds_ = 0;
    double started_at_ = now();
    int suspensions_ = 0;
};

}  // namespace roper
