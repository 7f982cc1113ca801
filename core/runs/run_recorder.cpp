#include "core/runs/run_recorder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <tuple>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/runs/tensorboard_events.h"
#include "core/specification/presets.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

std::string utcTime(const char* format) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[64];
    return {text, std::strftime(text, sizeof text, format, &parts)};
}

std::string uniqueName(const fs::path& runs, const std::string& wanted) {
    std::string name = wanted;
    for (int number = 2; fs::exists(runs / name); ++number)
        name = wanted + "-" + std::to_string(number);
    return name;
}

void removeQuietly(const fs::path& path) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

void fillNewRun(const RunFolder& folder, const Specification& specification) {
    fs::permissions(folder.path(), fs::perms(0755));
    fs::create_directory(folder.checkpointsPath());
    writeFileAtomically(folder.specificationPath(), toToml(specification));
    Status status;
    status.steps = specification.training.steps;
    status.heartbeat = secondsSinceEpoch();
    writeStatus(folder.statusPath(), status);
}

template <class Row>
ScalarEvent eventOf(const std::string& group, const Row& row) {
    ScalarEvent event{secondsSinceEpoch(), row.step, {}};
    for (const auto& [name, value] : tensorboardValues(row))
        event.scalars.emplace_back(group + "/" + name, static_cast<float>(value));
    return event;
}

ScalarEvent eventOf(const MetricsRow& row) {
    return eventOf("training", row);
}

ScalarEvent eventOf(const EvaluationRow& row) {
    ScalarEvent event = eventOf("evaluation", row);
    if (const auto accuracy = tokenAccuracy(row))
        event.scalars.emplace_back("evaluation/token_accuracy", static_cast<float>(*accuracy));
    return event;
}

/// Older versions named two tags otherwise; a curve goes on under one name.
std::string tagOfToday(const std::string& tag) {
    if (tag == "evaluation/floor") return "evaluation/loss_lower_bound";
    return tag == "evaluation/recall" ? "evaluation/token_accuracy" : tag;
}

void requireRunName(const std::string& name) {
    if (isRunName(name)) return;
    throw Error(ErrorKind::usage, "\"" + name +
                                      "\" cannot name a run: use up to 64 letters, digits, '.', '_' and '-', "
                                      "beginning with a letter or digit");
}

/// Removes what writers that were killed left half-written. Only for the holder of the run's lock.
void removePartialFiles(const fs::path& folder) {
    std::error_code unreadable;
    std::vector<fs::path> partial;
    for (fs::directory_iterator at(folder, unreadable), end; !unreadable && at != end;
         at.increment(unreadable))
        if (at->path().filename().string().find(kPartialMark) != std::string::npos)
            partial.push_back(at->path());
    for (const fs::path& path : partial)
        removeQuietly(path);
}

/// Writes rows, which share a key, in place of those that their file has of the same key.
template <class Row, class KeyOf>
void replaceRows(const RunFolder& folder, const std::vector<Row>& rows, KeyOf key_of) {
    if (rows.empty()) return;
    std::vector<Row> all = folder.rows<Row>();
    std::erase_if(all, [&](const Row& row) { return key_of(row) == key_of(rows.front()); });
    all.insert(all.end(), rows.begin(), rows.end());
    writeFileAtomically(folder.pathOf<Row>(), formatRows(all));
}

void requireText(const Specification& specification) {
    if (!specification.task.isText()) return;
    const fs::path text = textPath(specification.task.own.text("text"));
    std::error_code unreadable;
    if (!fs::exists(text, unreadable))
        throw Error(ErrorKind::usage,
                    "task.text: there is no file or folder " + text.string() +
                        "; name your own text, on the command line with --set task.text=PATH");
}

std::string firstLine(const fs::path& path) {
    const std::string content = readFile(path);
    return content.substr(0, content.find('\n'));
}

/// Keeps the rows of a file whose step is at most `step`; rewrites it only if any is dropped, or if an older
/// version wrote it with other columns.
template <class Row>
void keepRowsUpTo(std::int64_t step, const RunFolder& folder) {
    const fs::path path = folder.pathOf<Row>();
    if (!fs::exists(path)) return;
    std::vector<Row> rows = folder.rows<Row>();
    const std::size_t dropped = std::erase_if(rows, [&](const Row& row) { return row.step > step; });
    const std::string header = headerLine<Row>();
    if (dropped > 0 || (!header.empty() && firstLine(path) != header))
        writeFileAtomically(path, formatRows(rows));
}

/// A file that rows are appended to; a new one begins with its header.
template <class Row>
std::unique_ptr<AppendFile> openRowFile(const RunFolder& folder) {
    auto file = std::make_unique<AppendFile>(folder.pathOf<Row>());
    const std::string header = headerLine<Row>();
    if (file->empty() && !header.empty()) file->append(header);
    return file;
}

}  // namespace

std::string defaultRunName(const Specification& specification) {
    return utcTime("%Y-%m-%dT%H%MZ-") + specification.task.name + "-" + specification.model.position + "-s" +
           std::to_string(specification.training.model_seed);
}

RunFolder createRun(const fs::path& runs, const std::string& name, const Specification& wanted) {
    if (!name.empty()) requireRunName(name);
    const Specification specification = withAbsoluteText(wanted);
    requireText(specification);
    makeFolder(runs);
    std::string building = (runs / ".new-XXXXXX").string();
    if (::mkdtemp(building.data()) == nullptr) throw diskError("create a run in", runs.string(), errno);
    try {
        const std::string chosen = name.empty() ? uniqueName(runs, defaultRunName(specification)) : name;
        if (fs::exists(runs / chosen))
            throw Error(ErrorKind::usage, "there is a run " + (runs / chosen).string() +
                                              " already; choose another name, or continue it with "
                                              "`roper-train resume " +
                                              chosen + "`");
        fillNewRun(RunFolder(building), specification);
        if (::rename(building.c_str(), (runs / chosen).c_str()) != 0)
            throw diskError("create", (runs / chosen).string(), errno);
        syncFolder(runs);
        return RunFolder(runs / chosen);
    } catch (const fs::filesystem_error& error) {
        removeQuietly(building);
        throw diskError("create a run in", runs.string(), error.code().value());
    } catch (...) {
        removeQuietly(building);
        throw;
    }
}

RunFolder renameRun(const RunFolder& folder, const std::string& name) {
    requireRunName(name);
    const fs::path to = folder.path().parent_path() / name;
    if (fs::exists(to)) throw Error(ErrorKind::usage, "there is a run " + to.string() + " already");
    const RunRecorder nobody_else_writes(folder);
    if (::rename(folder.path().c_str(), to.c_str()) != 0)
        throw diskError("rename", folder.path().string(), errno);
    syncFolder(to.parent_path());
    return RunFolder(to);
}

void saveSizes(const RunFolder& folder, const std::vector<SizeRow>& rows) {
    replaceRows(folder, rows, [](const SizeRow& row) { return std::tie(row.step, row.scaling, row.factor); });
}

void saveLength(const RunFolder& folder, const LengthRow& row) {
    replaceRows(folder, std::vector{row},
                [](const LengthRow& one) { return std::tie(one.step, one.scaling, one.factor, one.length); });
}

void savePositions(const RunFolder& folder, const std::vector<PositionRow>& rows) {
    replaceRows(folder, rows, [](const PositionRow& row) {
        return std::tie(row.step, row.scaling, row.factor, row.length);
    });
}

RunRecorder::RunRecorder(RunFolder folder) : folder_(std::move(folder)) {
    lock_ = ::open(folder_.lockPath().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0) throw diskError("open", folder_.lockPath().string(), errno);
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        const int error_number = errno;
        ::close(lock_);
        if (error_number == EWOULDBLOCK)
            throw Error(ErrorKind::usage, "another trainer works on " + folder_.path().string() +
                                              "; pause or stop it first, or wait until it is done");
        throw diskError("lock", folder_.lockPath().string(), error_number);
    }
    try {
        makeFolder(folder_.checkpointsPath());
        removePartialFiles(folder_.path());
        removePartialFiles(folder_.checkpointsPath());
        removePartialFiles(folder_.snapshotsPath());
        log_ = std::make_unique<AppendFile>(folder_.logPath());
    } catch (...) {
        ::close(lock_);
        throw;
    }
}

RunRecorder::~RunRecorder() {
    ::close(lock_);
}

void RunRecorder::openRows() {
    if (metrics_) return;
    metrics_ = openRowFile<MetricsRow>(folder_);
    evaluations_ = openRowFile<EvaluationRow>(folder_);
    samples_ = openRowFile<Sample>(folder_);
    events_ = std::make_unique<AppendFile>(folder_.eventsPath(), AppendFile::Content::bytes);
    if (events_->empty()) events_->append(formatEventFileStart(secondsSinceEpoch()));
}

void RunRecorder::rewindTo(std::int64_t step) {
    keepRowsUpTo<MetricsRow>(step, folder_);
    keepRowsUpTo<EvaluationRow>(step, folder_);
    keepRowsUpTo<MethodRow>(step, folder_);
    keepRowsUpTo<SizeRow>(step, folder_);
    keepRowsUpTo<LengthRow>(step, folder_);
    keepRowsUpTo<PositionRow>(step, folder_);
    keepRowsUpTo<Sample>(step, folder_);
    rewindEvents(step);
    for (const StepFile& snapshot : folder_.snapshots())
        if (snapshot.step > step) removeQuietly(snapshot.path);
}

/// Rewrites the events up to `step`; a torn record at the end goes, too. A run of a version that wrote none
/// gets those of its rows.
void RunRecorder::rewindEvents(std::int64_t step) {
    const fs::path path = folder_.eventsPath();
    std::vector<ScalarEvent> events;
    if (fs::exists(path)) {
        events = parseEvents(readFile(path));
        for (ScalarEvent& event : events)
            for (auto& [tag, value] : event.scalars)
                tag = tagOfToday(tag);
    } else {
        for (const MetricsRow& row : folder_.metrics())
            events.push_back(eventOf(row));
        for (const EvaluationRow& row : folder_.evaluations())
            events.push_back(eventOf(row));
        if (events.empty()) return;
    }
    std::string kept = formatEventFileStart(events.empty() ? secondsSinceEpoch() : events.front().wall_time);
    for (const ScalarEvent& event : events)
        if (event.step <= step) kept += formatEvent(event);
    writeFileAtomically(path, kept);
}

void RunRecorder::record(const MetricsRow& row) {
    openRows();
    metrics_->append(formatRow(row));
    events_->append(formatEvent(eventOf(row)));
}

void RunRecorder::record(const EvaluationRow& row) {
    openRows();
    evaluations_->append(formatRow(row));
    events_->append(formatEvent(eventOf(row)));
}

void RunRecorder::record(const Sample& sample) {
    openRows();
    samples_->append(formatRow(sample));
}

/// Most methods have no such rows, and their runs no such file.
void RunRecorder::record(const std::vector<MethodRow>& rows) {
    if (rows.empty()) return;
    if (!method_) method_ = openRowFile<MethodRow>(folder_);
    for (const MethodRow& row : rows)
        method_->append(formatRow(row));
}

void RunRecorder::log(std::string_view line) {
    log_->append(utcTime("%Y-%m-%dT%H:%M:%SZ  ") + std::string(line));
}

void RunRecorder::setStatus(Status status, Durability durability) {
    stampWithThisProcess(status);
    writeStatus(folder_.statusPath(), status, durability);
}

void RunRecorder::sync() {
    if (!metrics_) return;
    metrics_->sync();
    evaluations_->sync();
    samples_->sync();
    events_->sync();
    if (method_) method_->sync();
}

void RunRecorder::pruneCheckpoints(std::int64_t keep) {
    const std::vector<StepFile> all = folder_.checkpoints();
    const std::optional<std::int64_t> best = folder_.bestStep();
    for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < all.size(); ++i) {
        if (best && all[i].step == *best) continue;
        std::error_code ignored;  // a checkpoint that stays costs space, not data
        fs::remove(all[i].path, ignored);
    }
}

}  // namespace roper
