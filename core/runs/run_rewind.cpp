#include "core/runs/run_rewind.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/runs/tensorboard_events.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxEventFileBytes = 4ULL << 30U;

using Report = std::vector<std::string>;

/// "steps 51 to 100", "step 7".
std::string stepsText(std::int64_t first, std::int64_t last) {
    if (first == last) return "step " + std::to_string(first);
    return "steps " + std::to_string(first) + " to " + std::to_string(last);
}

/// Older versions used other names for two tags; the curve is continued under the current one.
std::string currentTag(const std::string& tag) {
    if (tag == "evaluation/floor") return "evaluation/loss_lower_bound";
    return tag == "evaluation/recall" ? "evaluation/token_accuracy" : tag;
}

/// Keeps the previous content of a file from which something unreadable was removed.
void backUpDamaged(const FilePath& path, const std::string& name, Report& report) {
    const FilePath kept = path.parent() / (name + ".damaged");
    copyFileAtomically(path, kept);
    report.push_back("the original file is kept as " + kept.string());
}

template <class Row>
struct KeptRows {
    std::vector<Row> rows;
    std::size_t dropped = 0;  ///< rows of later steps
    std::size_t unparsed = 0, duplicates = 0;
    bool has_header = false;
};

/// The rows of a file up to a step.
/// @param ascending  whether each step may occur only once; duplicate or out-of-order rows are removed
template <class Row>
KeptRows<Row> readRowsUpTo(const FilePath& path, std::int64_t step, bool ascending) {
    KeptRows<Row> kept;
    LineReader lines(path, LineReader::LastLine::unfinished, LineReader::OverlongLine::truncated);
    std::string first_problem;
    while (const auto line = lines.next()) {
        if (lines.number() == 1 && isHeader<Row>(*line)) {
            kept.has_header = *line == headerLine<Row>();
            continue;
        }
        try {
            const Row row = parseRow<Row>(*line);
            if (row.step > step)
                ++kept.dropped;
            else if (ascending && !kept.rows.empty() && row.step <= kept.rows.back().step)
                ++kept.duplicates;
            else
                kept.rows.push_back(row);
        } catch (const Error& error) {
            if (kept.unparsed++ == 0)
                first_problem = path.string() + ":" + std::to_string(lines.number()) + ": " + error.what();
        }
    }
    if (kept.unparsed > kept.rows.size() + kept.dropped) throw Error(ErrorKind::usage, first_problem);
    return kept;
}

template <class Row>
void replace(const FilePath& path, const KeptRows<Row>& kept, Report& report) {
    const std::string name = path.path().filename().string();
    if (kept.unparsed > 0) {
        report.push_back(name + " had " + countOf(kept.unparsed, "line") + " that could not be read");
        backUpDamaged(path, name, report);
    }
    if (kept.duplicates > 0)
        report.push_back(name + " had " + countOf(kept.duplicates, "row") +
                         " of steps that it already contained; duplicates were dropped");
    writeFileAtomically(path, formatRows(kept.rows));
}

/// Keeps the rows of a file whose step is at most `step`; rewrites the file only if something changes, or if
/// an older version wrote it with other columns.
template <class Row>
void rewindRows(const RunFolder& folder, std::int64_t step, bool ascending, Report& report) {
    const FilePath path = folder.pathOf<Row>();
    if (!pathExists(path)) return;
    const KeptRows<Row> kept = readRowsUpTo<Row>(path, step, ascending);
    const bool is_legacy = !headerLine<Row>().empty() && !kept.has_header;
    if (kept.dropped + kept.unparsed + kept.duplicates > 0 || is_legacy) replace(path, kept, report);
}

std::optional<double> scalarOf(const ScalarEvent& event, std::string_view tag) {
    for (const auto& [name, value] : event.scalars)
        if (name == tag) return value;
    return std::nullopt;
}

/// Whether an event comes from an evaluation.
bool isEvaluation(const ScalarEvent& event) {
    return std::ranges::any_of(event.scalars,
                               [](const auto& scalar) { return scalar.first.starts_with("evaluation/"); });
}

/// Restores a row from an event between two existing rows; values that the event lacks are interpolated.
std::optional<MetricsRow> rowOf(const ScalarEvent& event, const MetricsRow& before, const MetricsRow& after) {
    const auto loss = scalarOf(event, "training/loss");
    if (!loss) return std::nullopt;
    const double fraction = static_cast<double>(event.step - before.step) /
                            static_cast<double>(std::max<std::int64_t>(1, after.step - before.step));
    MetricsRow row;
    row.step = event.step;
    row.loss = *loss;
    row.learning_rate = scalarOf(event, "training/learning_rate");
    if (!row.learning_rate) row.learning_rate = before.learning_rate;
    row.grad_norm = scalarOf(event, "training/grad_norm");
    row.tokens_per_s = scalarOf(event, "training/tokens_per_s");
    if (!row.tokens_per_s) row.tokens_per_s = before.tokens_per_s;
    if (before.time_s && after.time_s) row.time_s = std::lerp(*before.time_s, *after.time_s, fraction);
    if (before.tokens && after.tokens)
        row.tokens = *before.tokens + static_cast<std::int64_t>(std::llround(
                                          fraction * static_cast<double>(*after.tokens - *before.tokens)));
    return row;
}

/// Inserts rows that exist only in the events into the file's rows, which are in ascending order. @returns
/// how many
std::size_t fillGaps(std::vector<MetricsRow>& rows, const std::vector<ScalarEvent>& events,
                     const RewindPoint& target) {
    std::set<std::int64_t> existing;
    for (const MetricsRow& row : rows)
        existing.insert(row.step);
    std::map<std::int64_t, const ScalarEvent*> missing;
    for (const ScalarEvent& event : events)
        if (event.step <= target.step && existing.count(event.step) == 0 && !isEvaluation(event))
            missing[event.step] = &event;
    MetricsRow start, end;
    start.time_s = 0;
    start.tokens = 0;
    end.step = target.step;
    end.tokens = target.tokens;
    end.time_s = target.time_s;
    std::vector<MetricsRow> found;
    for (const auto& [at, event] : missing) {
        const auto next = std::ranges::upper_bound(rows, at, {}, &MetricsRow::step);
        const MetricsRow& before = next == rows.begin() ? start : *(next - 1);
        if (const auto row = rowOf(*event, before, next == rows.end() ? end : *next)) found.push_back(*row);
    }
    rows.insert(rows.end(), found.begin(), found.end());
    std::ranges::sort(rows, {}, &MetricsRow::step);
    return found.size();
}

/// Reports missing rows up to a step, given the reporting interval.
void reportGaps(const std::vector<MetricsRow>& rows, std::int64_t every, std::int64_t step, Report& report) {
    std::int64_t last = 0;
    const auto report_gap_before = [&](std::int64_t next) {
        if (next - last > every)
            report.push_back("metrics.csv has no rows for " + stepsText(last + every, next - 1) +
                             ", and they are recorded nowhere else; curves have a gap there");
        last = next;
    };
    for (const MetricsRow& row : rows)
        report_gap_before(row.step);
    report_gap_before(step + 1);
}

void rewindMetrics(const RunFolder& folder, const RewindPoint& target, const std::vector<ScalarEvent>& events,
                   Report& report) {
    const FilePath path = folder.metricsPath();
    if (!pathExists(path) && target.step == 0) return;
    KeptRows<MetricsRow> kept = readRowsUpTo<MetricsRow>(path, target.step, true);
    const std::size_t restored = fillGaps(kept.rows, events, target);
    if (kept.dropped + kept.unparsed + kept.duplicates + restored > 0 || !kept.has_header)
        replace(path, kept, report);
    if (restored > 0)
        report.push_back("metrics.csv lacked " + countOf(restored, "row") +
                         (restored == 1 ? ", which was" : ", which were") +
                         " restored from the TensorBoard events");
    if (target.report_every > 0) reportGaps(kept.rows, target.report_every, target.step, report);
}

/// The event file, and whether it can be appended to as it is.
struct ExistingEvents : EventFile {
    bool existed = false;
    bool can_append = false;  ///< no record is damaged, and no tag has a former name
    std::size_t bytes = 0;    ///< of the file
};

ExistingEvents readEvents(const FilePath& path) {
    ExistingEvents existing;
    if (!pathExists(path)) return existing;
    const std::string file = readFile(path, kMaxEventFileBytes);
    static_cast<EventFile&>(existing) = parseEvents(file);
    existing.existed = true;
    existing.bytes = file.size();
    existing.can_append = !existing.damaged && existing.complete_bytes > 0;
    for (ScalarEvent& event : existing.events) {
        for (auto& [tag, value] : event.scalars) {
            const std::string current_tag = currentTag(tag);
            existing.can_append = existing.can_append && current_tag == tag;
            tag = current_tag;
        }
    }
    return existing;
}

/// An event with unknown time (0) gets that of the preceding one or, at the start, of the first known one.
void fillMissingTimes(std::vector<ScalarEvent>& events) {
    const auto first_known =
        std::ranges::find_if(events, [](const ScalarEvent& event) { return event.wall_time > 0; });
    double last = first_known == events.end() ? secondsSinceEpoch() : first_known->wall_time;
    for (ScalarEvent& event : events)
        last = event.wall_time = event.wall_time > 0 ? event.wall_time : last;
}

/// The events up to a step: those in the file, and new ones for rows without an event.
struct EventsUpTo {
    std::vector<ScalarEvent> events;
    std::size_t added = 0;
    bool appends_only = true;     ///< whether all added events come after the existing ones
    bool has_duplicates = false;  ///< whether an event was duplicated
};

EventsUpTo eventsUpTo(const RunFolder& folder, std::int64_t step, std::vector<ScalarEvent> existing) {
    EventsUpTo kept;
    std::set<std::pair<std::int64_t, std::string>> seen;  // the first tag distinguishes events of a step
    std::set<std::pair<std::int64_t, bool>> rows;
    for (ScalarEvent& event : existing) {
        if (event.step > step) continue;
        if (!seen.emplace(event.step, event.scalars.front().first).second) {
            kept.has_duplicates = true;
            continue;
        }
        rows.emplace(event.step, isEvaluation(event));
        kept.events.push_back(std::move(event));
    }
    const std::size_t existing_count = kept.events.size();
    std::int64_t last = -1;
    for (const ScalarEvent& event : kept.events)
        last = std::max(last, event.step);
    const auto add_missing = [&](const auto& row, bool evaluation) {
        if (!rows.emplace(row.step, evaluation).second) return;
        kept.appends_only = kept.appends_only && row.step >= last;
        kept.events.push_back(eventOf(row));
        if (existing_count > 0) kept.events.back().wall_time = 0;  // unknown
    };
    folder.forEachRow<MetricsRow>([&](const MetricsRow& row) { add_missing(row, false); });
    folder.forEachRow<EvaluationRow>([&](const EvaluationRow& row) { add_missing(row, true); });
    kept.added = kept.events.size() - existing_count;
    std::ranges::stable_sort(kept.events, {}, &ScalarEvent::step);
    fillMissingTimes(kept.events);
    return kept;
}

/// Keeps the file except a truncated last record, and appends a session start, so that TensorBoard drops the
/// steps that are computed again. TensorBoard keeps the file open and would not switch to a new one with the
/// same name.
void appendToEvents(const FilePath& path, std::int64_t step, const ExistingEvents& file,
                    const EventsUpTo& kept) {
    if (file.complete_bytes < file.bytes) {
        const AppendFile truncated(path, AppendFile::Content::bytes);
        if (::ftruncate(truncated.descriptor(), static_cast<off_t>(file.complete_bytes)) != 0)
            throw diskError("write", path.string(), errno);
    }
    AppendFile events(path, AppendFile::Content::bytes);
    if (kept.events.size() - kept.added < file.events.size())
        // TensorBoard ignores the first session start of a file, so there must be two
        for (int sessions = std::min(file.sessions, 1); sessions < 2; ++sessions)
            events.append(formatSessionStart(secondsSinceEpoch(), step + 1));
    for (auto event = kept.events.end() - static_cast<std::ptrdiff_t>(kept.added); event != kept.events.end();
         ++event)
        events.append(formatEvent(*event));
    events.sync();
}

void rewindEvents(const RunFolder& folder, std::int64_t step, ExistingEvents file, Report& report) {
    const FilePath path = folder.eventsPath();
    const EventsUpTo kept = eventsUpTo(folder, step, file.events);
    if (kept.events.empty() && !file.existed) return;
    if (file.can_append && kept.appends_only && !kept.has_duplicates)
        return appendToEvents(path, step, file, kept);
    if (file.damaged) {
        report.push_back(path.path().filename().string() + " was damaged at byte " +
                         std::to_string(*file.damaged) + "; " + countOf(kept.added, "event") +
                         (kept.added == 1 ? " was" : " were") +
                         " restored from metrics.csv and evaluations.csv");
        // The backup must not keep the name: TensorBoard reads every file with "tfevents" in its name.
        backUpDamaged(path, "events", report);
    }
    const double start_time = kept.events.empty() ? secondsSinceEpoch() : kept.events.front().wall_time;
    writeFileAtomically(path, [&](const AppendBytes& append) {
        append(bytesOf(formatEventFileStart(start_time, folder.specification())));
        for (const ScalarEvent& event : kept.events)
            append(bytesOf(formatEvent(event)));
    });
}

/// Reports evaluations that exist only in the events, which contain fractions, not the counts required for a
/// row.
void reportLostEvaluations(const RunFolder& folder, std::int64_t step, const std::vector<ScalarEvent>& events,
                           Report& report) {
    std::set<std::int64_t> existing;
    folder.forEachRow<EvaluationRow>([&](const EvaluationRow& row) { existing.insert(row.step); });
    std::set<std::int64_t> lost;
    for (const ScalarEvent& event : events)
        if (event.step <= step && isEvaluation(event) && existing.count(event.step) == 0)
            lost.insert(event.step);
    if (lost.empty()) return;
    constexpr std::size_t kMaxNamed = 5;
    std::vector<std::string> steps;
    for (const std::int64_t at : lost)
        if (steps.size() < kMaxNamed) steps.push_back(std::to_string(at));
    if (lost.size() > kMaxNamed) steps.push_back("and " + std::to_string(lost.size() - kMaxNamed) + " more");
    report.push_back(std::string("evaluations.csv lacks ") +
                     (lost.size() == 1 ? "the evaluation of step " : "the evaluations of steps ") +
                     join(steps, ", ") + "; the TensorBoard events still contain their curves");
}

void removeSnapshotsAfter(const RunFolder& folder, std::int64_t step) {
    for (const StepFile& snapshot : folder.snapshots())
        if (snapshot.step > step) removeFile(snapshot.path);
}

}  // namespace

std::vector<std::string> rewindRun(const RunFolder& folder, const RewindPoint& target) {
    const std::int64_t step = target.step;
    Report report;
    ExistingEvents events = readEvents(folder.eventsPath());
    rewindMetrics(folder, target, events.events, report);
    rewindRows<EvaluationRow>(folder, step, true, report);
    reportLostEvaluations(folder, step, events.events, report);
    rewindRows<MethodRow>(folder, step, false, report);
    rewindRows<SizeRow>(folder, step, false, report);
    rewindRows<LengthRow>(folder, step, false, report);
    rewindRows<PositionRow>(folder, step, false, report);
    rewindRows<Sample>(folder, step, false, report);
    rewindEvents(folder, step, std::move(events), report);
    removeSnapshotsAfter(folder, step);
    return report;
}

}  // namespace roper
