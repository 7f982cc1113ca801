#pragma once

#include <chrono>
#include <string>

#include "core/training/session.h"

namespace roper {

/// How a run in a terminal reports its progress.
enum class Verbosity {
    bar,    ///< one line, redrawn, on stderr
    lines,  ///< a line every few seconds, on stderr
    json,   ///< one JSON object per line, on stdout
    quiet,  ///< nothing
};

/// Shows a run's progress: step, rate, loss, last evaluation and the remaining time.
class Progress final : public TrainingObserver {
  public:
    explicit Progress(Verbosity verbosity) : verbosity_(verbosity) {}
    ~Progress() override;

    void onNote(const std::string& note) override;
    void onStart(const TrainingStart& start) override;
    void onStep(const MetricsRow& row) override;
    void onEvaluation(const EvaluationRow& row) override;
    void onPause(bool paused) override;

    /// Prints a summary of a run that has ended, in a few lines on stderr; nothing with JSON or quiet output.
    void printSummary(RunState state, const RunFolder& folder);

  private:
    using Clock = std::chrono::steady_clock;
    std::string summary(const MetricsRow& row) const;
    void drawBar(const MetricsRow& row);
    void endBar();
    double stepsPerSecond() const;

    Verbosity verbosity_;
    TrainingStart start_{};
    MetricsRow last_;
    Clock::time_point began_, shown_{};  ///< when training started; when progress was last shown
    std::int64_t steps_seen_ = 0;        ///< steps since training started
    std::string evaluation_;             ///< the last evaluation as text; empty: none yet
    std::optional<EvaluationRow> best_;
    bool bar_is_open_ = false;
};

/// "2 h 05 min", "3 min 20 s", "12 s".
std::string durationText(double seconds);

/// "112 of 128 correct, evaluation loss 0.412", with the lower bound of the loss and the token accuracy if
/// there are any.
std::string evaluationText(const EvaluationRow& row);

}  // namespace roper
