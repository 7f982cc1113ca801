#include "app/roper_train/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/json_line.h"
#include "core/base/console.h"
#include "core/base/text.h"

namespace roper {
namespace {

using namespace std::chrono_literals;

constexpr auto kRedrawInterval = 100ms;  // of the bar
constexpr auto kLineInterval = 5s;
constexpr auto kRateSettleTime = 2s;  // before it, no remaining time is shown
constexpr int kBarCells = 10;

std::size_t terminalWidth() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// The first `columns` characters of a UTF-8 text.
std::string cutToWidth(const std::string& text, std::size_t columns) {
    std::size_t at = 0;
    for (std::size_t shown = 0; at < text.size(); ++at) {
        const bool begins_character = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
        if (begins_character && shown++ == columns) break;
    }
    return text.substr(0, at);
}

template <class Row>
void printRow(const char* event, const Row& row) {
    nlohmann::ordered_json json = {{"event", event}};
    json.update(rowJson(row));
    print(json);
}

}  // namespace

std::string durationText(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::lround(std::max(0.0, seconds)));
    const auto padded = [](std::int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); };
    constexpr std::int64_t kDay = 24 * 3600;
    if (whole >= 3 * kDay) return std::to_string(whole / kDay) + " days";
    if (whole >= 3600) return std::to_string(whole / 3600) + " h " + padded(whole / 60 % 60) + " min";
    if (whole >= 60) return std::to_string(whole / 60) + " min " + padded(whole % 60) + " s";
    return std::to_string(whole) + " s";
}

std::string evaluationText(const EvaluationRow& row) {
    std::string text;
    if (row.correct)
        text = std::to_string(*row.correct) + " of " + std::to_string(row.total.value_or(0)) + " correct" +
               (row.fully_correct ? " (" + std::to_string(*row.fully_correct) + " fully solved)" : "") + ", ";
    if (row.loss) text += "evaluation loss " + formatFixed(*row.loss, 4);
    // Only a text has a loss, but neither problems nor a lower bound.
    if (row.loss && !row.correct && !row.loss_lower_bound)
        text += " (perplexity " + formatFixed(std::exp(*row.loss), 1) + ")";
    if (row.loss_lower_bound) text += " (lower bound " + formatFixed(*row.loss_lower_bound, 4) + ")";
    if (const auto accuracy = tokenAccuracy(row))
        text += ", " + formatFixed(100 * *accuracy, 1) + " % of " + std::to_string(*row.tokens_scored) +
                " tokens correct";
    if (row.overlaps.value_or(0) > 0) text += ", " + std::to_string(*row.overlaps) + " seen in training";
    return text;
}

Progress::~Progress() {
    endBar();
}

void Progress::onNote(const std::string& note) {
    if (verbosity_ != Verbosity::quiet) reportToUser(note);
}

void Progress::onStart(const TrainingStart& start) {
    start_ = start;
    began_ = Clock::now();
    if (verbosity_ == Verbosity::json) {
        print({{"event", "start"},
               {"step", start.step},
               {"steps", start.steps},
               {"parameters", start.parameters},
               {"device", start.device}});
    } else if (verbosity_ != Verbosity::quiet) {
        std::cerr << formatFixed(static_cast<double>(start.parameters) / 1e6, 2) << " M parameters on "
                  << start.device << (start.step > 0 ? ", from step " + std::to_string(start.step) : "")
                  << "\n";
    }
}

double Progress::stepsPerSecond() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    return seconds > 0 ? static_cast<double>(steps_seen_) / seconds : 0;
}

std::string Progress::summary(const MetricsRow& row) const {
    const double rate = stepsPerSecond();
    std::string text = "step " + std::to_string(row.step) + "/" + std::to_string(start_.steps) + "  loss " +
                       formatFixed(row.loss, 4) + "  " + formatFixed(rate, rate < 10 ? 2 : 1) + " steps/s";
    const bool is_settled = Clock::now() - began_ > kRateSettleTime;  // the first steps are the slowest
    if (rate > 0 && is_settled)
        text += "  " + durationText(static_cast<double>(start_.steps - row.step) / rate) + " left";
    if (!evaluation_.empty()) text += "  " + evaluation_;
    return text;
}

void Progress::onStep(const MetricsRow& row) {
    steps_seen_ += row.step - std::max(last_.step, start_.step);
    last_ = row;
    const auto now = Clock::now();
    const bool last = row.step == start_.steps;
    if (verbosity_ == Verbosity::json) {
        printRow("step", row);
    } else if (verbosity_ == Verbosity::bar && (last || now - shown_ > kRedrawInterval)) {
        shown_ = now;
        drawBar(row);
    } else if (verbosity_ == Verbosity::lines && (last || now - shown_ > kLineInterval)) {
        shown_ = now;
        std::cerr << summary(row) << "\n";
    }
}

void Progress::drawBar(const MetricsRow& row) {
    // If there is too little space for both, the bar is shortened and the numbers stay complete.
    const std::string numbers = summary(row);
    const auto room = static_cast<int>(terminalWidth()) - static_cast<int>(numbers.size()) - 3;
    const int cells = std::clamp(room, 0, static_cast<int>(kBarCells));
    const auto full = static_cast<int>(cells * row.step / start_.steps);
    std::string line;
    for (int cell = 0; cell < cells; ++cell)
        line += cell < full ? "█" : "░";
    line += (cells > 0 ? "  " : "") + numbers;
    terminal() << "\r\033[K" << cutToWidth(toSingleLine(line), terminalWidth() - 1) << std::flush;
    bar_is_open_ = true;
}

void Progress::endBar() {
    if (bar_is_open_) std::cerr << std::endl;
    bar_is_open_ = false;
}

void Progress::printSummary(RunState state, const RunFolder& folder) {
    if (verbosity_ == Verbosity::json || verbosity_ == Verbosity::quiet) return;
    endBar();
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    std::cerr << "\n" << stateName(state) << " at step " << last_.step << " of " << start_.steps;
    if (steps_seen_ > 0)
        std::cerr << ": " << steps_seen_ << " steps in " << durationText(seconds) << ", loss "
                  << formatFixed(last_.loss, 4);
    std::cerr << "\n";
    if (!evaluation_.empty()) std::cerr << "last evaluation: " << evaluation_ << "\n";
    if (best_ && best_->step != last_.step)
        std::cerr << "best evaluation: " << evaluationText(*best_) << ", at step " << best_->step << "\n";
    std::cerr << (state == RunState::finished ? "inspect it with `roper-lab --page inspect --runs "
                                              : "continue with `roper-train resume ")
              << (state == RunState::finished ? folder.path().parent_path() : folder.path()).string()
              << "`\n";
}

void Progress::onEvaluation(const EvaluationRow& row) {
    evaluation_ = evaluationText(row);
    if (!best_ || isBetter(row, *best_)) best_ = row;
    if (verbosity_ == Verbosity::json) {
        printRow("evaluation", row);
    } else if (verbosity_ == Verbosity::lines) {
        std::cerr << "step " << row.step << "  evaluation: " << evaluation_ << "\n";
    } else if (verbosity_ == Verbosity::bar) {
        drawBar(last_);
    }
}

void Progress::onPause(bool paused) {
    if (verbosity_ == Verbosity::json) print({{"event", paused ? "pause" : "resume"}, {"step", last_.step}});
    if (verbosity_ != Verbosity::bar && verbosity_ != Verbosity::lines) return;
    endBar();
    std::cerr << (paused ? "paused" : "resumed") << "\n";
}

}  // namespace roper
