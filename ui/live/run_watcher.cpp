#include "ui/live/run_watcher.h"

#include <sys/stat.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "ui/theme/error_text.h"

namespace roper {
namespace {

constexpr std::size_t kMaxBytesPerPoll = 512 * 1024;  // limits a poll to a few milliseconds
constexpr double kLongSilence_s = 30;                 // without a new status, before it is reported
constexpr std::size_t kRateWindow = 50;               // number of rows used for the rate
constexpr std::size_t kMaxRows = 4'000'000;           // limit per run in memory: 230 MB

/// Parses lines as rows; the header and unreadable lines are skipped.
template <class Row>
void parseInto(const std::vector<std::string>& lines, std::vector<Row>& rows) {
    for (const std::string& line : lines) {
        if (isHeader<Row>(line)) continue;
        try {
            rows.push_back(parseRow<Row>(line));
        } catch (const Error&) {
            // Damaged lines must not hide the others; `roper-train export` reports them.
        }
    }
}

}  // namespace

RunWatcher::RunWatcher(RunFolder folder, QObject* parent)
    : QObject(parent),
      folder_(std::move(folder)),
      metrics_tail_(folder_.metricsPath()),
      evaluations_tail_(folder_.pathOf<EvaluationRow>()),
      samples_tail_(folder_.pathOf<Sample>()) {
    readSpecificationIfChanged();
    readLabelsIfChanged();
    readSessionsIfChanged();
}

/// Reads run.toml at each call until it succeeds, because a run may be found while it is still being copied,
/// and again after edits.
void RunWatcher::readSpecificationIfChanged() {
    const Stamp now = stampOf(folder_.specificationPath());
    if (specification_ && now == specification_stamp_) return;
    specification_stamp_ = now;
    const QString problem_before = specification_problem_;
    specification_problem_ = errorOf([&] { specification_ = folder_.specification(); });
    if (specification_problem_.isEmpty() || specification_problem_ != problem_before) emit labelsChanged();
}

void RunWatcher::readLabelsIfChanged() {
    const Stamp now = stampOf(labelsPath(folder_));
    if (now == std::exchange(labels_stamp_, now)) return;
    try {
        labels_ = readLabels(folder_);
    } catch (const Error&) {
        labels_ = {};  // nothing is lost: the file is unchanged until the user writes new labels
    }
    emit labelsChanged();
}

void RunWatcher::readSessionsIfChanged() {
    const Stamp now = stampOf(sessionsPath(folder_));
    if (now == std::exchange(sessions_stamp_, now)) return;
    first_session_s_ = 0;
    try {
        const std::vector<Session> sessions = readSessions(folder_);
        compute_environments_ = computeEnvironmentsOf(sessions);
        if (!sessions.empty()) first_session_s_ = sessions.front().started_at;
    } catch (const Error&) {
        compute_environments_ = {};  // the run's numbers are still usable
    }
}

/// A copied or edited specification has a new time stamp, but its first session keeps its time.
double RunWatcher::createdAt_s() const {
    const double written = 1e-9 * static_cast<double>(stampOf(folder_.specificationPath()).time_ns);
    return first_session_s_ > 0 ? std::min(first_session_s_, written) : written;
}

/// Trainers on other machines are judged only by their heartbeat, timed with the local clock because clocks
/// may differ.
RunState RunWatcher::observedState() {
    constexpr qint64 kSilenceMeansGone_ms = 60000;
    const bool beats = reportsActive(status_) && livenessCheckFor(status_) == LivenessCheck::heartbeat &&
                       last_heartbeat_.isValid() && last_heartbeat_.elapsed() < kSilenceMeansGone_ms;
    return beats ? status_.state : folder_.effectiveState(status_);
}

/// Updates what the operating system knows about a trainer on this machine: whether it is suspended, and
/// whether processes were killed for lack of memory (OOM).
/// @param before  the state at the previous poll
/// @param beats   whether the trainer has written its status since
void RunWatcher::watchTrainer(RunState before, bool beats) {
    const bool was_active = before == RunState::running || before == RunState::paused;
    const bool was_suspended = std::exchange(is_suspended_, writerIsSuspended(status_));
    if (beats || !was_active || was_suspended) last_activity_.start();
    if (!reportsActive(status_) || livenessCheckFor(status_) != LivenessCheck::process) return;
    // The system counts a kill before the process is gone, so the count is compared with that at the last
    // heartbeat.
    if (state_ == RunState::interrupted && was_active) memory_ran_out_ = oomKillCount() > oom_kills_;
    if (beats && isActive()) {
        memory_ran_out_ = false;
        oom_kills_ = oomKillCount();
    }
}

double RunWatcher::silentSeconds() const {
    if (state_ != RunState::running || is_suspended_ || !last_activity_.isValid()) return 0;
    const double seconds = static_cast<double>(last_activity_.elapsed()) / 1000;
    return seconds > kLongSilence_s ? seconds : 0;
}

void RunWatcher::pollStatus() {
    const Status before = status_;
    const RunState state_before = state_;
    const bool was_suspended = is_suspended_, was_silent = silentSeconds() > 0;
    try {
        status_ = folder_.status();
        const bool beats = before.heartbeat != 0 && before.heartbeat != status_.heartbeat;
        if (beats) last_heartbeat_.start();
        state_ = observedState();
        watchTrainer(state_before, beats || before.heartbeat == 0);
        status_problem_.clear();
    } catch (const Error& error) {
        status_problem_ = QString::fromStdString(error.what());
        state_ = RunState::failed;
        is_suspended_ = false;
    }
    // The notice of a silent trainer contains the time of silence.
    if (was_silent || silentSeconds() > 0 || state_ != state_before || is_suspended_ != was_suspended ||
        status_.step != before.step || status_.error != before.error || status_.control != before.control)
        emit statusChanged();
}

/// Appends new rows of a file; returns the index of the first one, or nothing.
template <class Row>
std::optional<std::size_t> RunWatcher::pollRows(LineTail& tail, std::vector<Row>& rows) {
    if (rows.size() >= kMaxRows) {
        rows_problem_ =
            tr("%1 has more than %2 rows; the window shows only the first %2. A larger "
               "%3 writes fewer.")
                .arg(QString::fromStdString(rowFileName<Row>()))
                .arg(kMaxRows)
                .arg(std::is_same_v<Row, MetricsRow> ? "training.report_every" : "evaluation.every");
        return std::nullopt;
    }
    const LineTail::Update update = tail.poll(kMaxBytesPerPoll);
    has_unread_data_ = has_unread_data_ || update.more;
    if (!tail.problem().empty()) rows_problem_ = QString::fromStdString(tail.problem());
    if (update.restarted) {
        rows.clear();
        emit restarted();
    }
    const std::size_t first = rows.size();
    parseInto(update.lines, rows);
    return rows.size() > first ? std::optional(first) : std::nullopt;
}

void RunWatcher::pollEvaluations() {
    if (const auto first = pollRows(evaluations_tail_, evaluations_)) emit evaluationsAdded(*first);
}

void RunWatcher::poll() {
    has_unread_data_ = false;
    rows_problem_.clear();
    status_stamp_ = stampOf(folder_.statusPath());
    if (const Stamp stamp = stampOf(folder_.trainerStderrPath());
        stamp != std::exchange(messages_stamp_, stamp))
        emit statusChanged();
    metrics_stamp_ = stampOf(folder_.metricsPath());
    readSpecificationIfChanged();
    pollStatus();
    readLabelsIfChanged();
    readSessionsIfChanged();
    if (const auto first = pollRows(metrics_tail_, metrics_)) emit metricsAdded(*first);
    pollEvaluations();
    pollSamples();
}

void RunWatcher::pollBriefly() {
    readSpecificationIfChanged();
    pollStatus();
    pollEvaluations();
    has_unread_data_ = true;
}

RunWatcher::Stamp RunWatcher::stampOf(const FilePath& path) {
    struct stat info {};
    if (::lstat(path.path().c_str(), &info) != 0) return {};
    constexpr std::int64_t kNanoseconds = 1000000000;
    return {info.st_mtim.tv_sec * kNanoseconds + info.st_mtim.tv_nsec, info.st_size};
}

void RunWatcher::pollIfChanged() {
    readLabelsIfChanged();
    readSessionsIfChanged();
    // A trainer that dies writes nothing, so runs that claim to be active are polled every time.
    const bool is_known = stampOf(folder_.statusPath()) == status_stamp_ &&
                          stampOf(folder_.specificationPath()) == specification_stamp_ &&
                          stampOf(folder_.trainerStderrPath()) == messages_stamp_ &&
                          stampOf(folder_.metricsPath()) == metrics_stamp_ && !isBroken();
    if (!is_known || isActive() || has_unread_data_) poll();
}

const std::vector<Sample>& RunWatcher::samples() const {
    if (!std::exchange(samples_requested_, true)) has_unread_data_ = true;
    return samples_;
}

void RunWatcher::pollSamples() {
    if (!samples_requested_) return;
    const LineTail::Update update = samples_tail_.poll(kMaxBytesPerPoll);
    has_unread_data_ = has_unread_data_ || update.more;
    if (update.restarted) samples_.clear();
    parseInto(update.lines, samples_);
    if (update.lines.empty() && !update.restarted) return;
    const std::int64_t newest = samples_.empty() ? 0 : samples_.back().step;
    std::erase_if(samples_, [&](const Sample& sample) { return sample.step != newest; });
    emit samplesChanged();
}

QString RunWatcher::messages() const {
    constexpr std::size_t kMaxShown = 600;  // bytes
    try {
        return QString::fromStdString(
                   replaceControlCharacters(readEnd(folder_.trainerStderrPath(), kMaxShown)))
            .trimmed();
    } catch (const Error&) {
        return {};  // only runs started by a window have this file
    }
}

QString RunWatcher::messagesAfterStatus() const {
    return stampOf(folder_.trainerStderrPath()).time_ns > stampOf(folder_.statusPath()).time_ns ? messages()
                                                                                                : QString();
}

std::int64_t RunWatcher::step() const {
    return metrics_.empty() ? status_.step : std::max(status_.step, metrics_.back().step);
}

std::int64_t RunWatcher::steps() const {
    return state_ == RunState::unfinished && specification_ ? specification_->training.steps : status_.steps;
}

double RunWatcher::stepsPerSecond() const {
    if (metrics_.size() < 2) return 0;
    const MetricsRow& last = metrics_.back();
    const MetricsRow& first = metrics_[metrics_.size() - std::min(metrics_.size(), kRateWindow)];
    const double seconds = last.time_s.value_or(0) - first.time_s.value_or(0);
    return seconds > 0 ? static_cast<double>(last.step - first.step) / seconds : 0;
}

std::optional<double> RunWatcher::remainingSeconds() const {
    const double rate = stepsPerSecond();
    if (state_ != RunState::running || is_suspended_ || rate <= 0) return std::nullopt;
    return static_cast<double>(steps() - step()) / rate;
}

}  // namespace roper
