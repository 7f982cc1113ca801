#include "core/runs/run_recorder.h"

#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <random>
#include <tuple>

#include "core/base/console.h"
#include "core/base/crash_report.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/runs/run_queue.h"
#include "core/runs/run_rewind.h"
#include "core/runs/tensorboard_events.h"
#include "core/runs/user_record.h"
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

std::string uniqueName(const fs::path& runs, const std::string& requested) {
    std::string name = requested;
    for (int number = 2; fs::exists(runs / name); ++number)
        name = requested + "-" + std::to_string(number);
    return name;
}

void removeQuietly(const fs::path& path) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

void removeFileQuietly(const FilePath& path) {
    try {
        removeFile(path);
    } catch (const Error&) {
        // A leftover file only takes up space.
    }
}

/// An empty folder with a unique name, to be renamed when complete.
fs::path makeHiddenFolder(const fs::path& runs) {
    constexpr int kTries = 100;
    std::random_device random;
    for (int i = 0;; ++i) {
        const fs::path made = runs / (".new-" + std::to_string(random()));
        if (::mkdir(made.c_str(), 0777) == 0) return made;
        if (errno != EEXIST || i == kTries) throw diskError("create a run in", runs.string(), errno);
    }
}

void fillNewRun(const RunFolder& folder, const Specification& specification, const RunLabels& labels) {
    makeFolder(folder.checkpointsPath());
    writeFileAtomically(folder.specificationPath(), toToml(specification));
    if (labels != RunLabels{}) writeFileAtomically(labelsPath(folder), toToml(labels));
    Status status;
    status.steps = specification.training.steps;
    status.heartbeat = secondsSinceEpoch();
    writeStatus(folder.statusPath(), status);
}

void requireRunName(const std::string& name) {
    if (isRunName(name)) return;
    throw Error(ErrorKind::usage, "\"" + name +
                                      "\" cannot name a run: use up to 64 letters, digits, '.', '_' and '-', "
                                      "beginning with a letter or digit");
}

/// Removes partial files of writers that were killed. Only for the holder of the run's lock.
void removePartialFiles(const FilePath& folder) {
    for (const std::string& name : listFolder(folder))
        if (name.find(kPartialMark) != std::string::npos) removeFileQuietly(folder / name);
}

RunFolder requireTrustedOwner(RunFolder folder) {
    requireOwnedOrTrusted(folder.path());
    return folder;
}

/// Writes rows that have the same key, replacing all rows with this key in their file.
template <class Row, class KeyOf>
void replaceRows(const RunFolder& folder, const std::vector<Row>& rows, KeyOf key_of) {
    if (rows.empty()) return;
    requireOwnedOrTrusted(folder.path());
    std::vector<Row> all = folder.rows<Row>();
    std::erase_if(all, [&](const Row& row) { return key_of(row) == key_of(rows.front()); });
    all.insert(all.end(), rows.begin(), rows.end());
    writeFileAtomically(folder.pathOf<Row>(), formatRows(all));
}

void requireText(const Specification& specification) {
    if (!specification.task.isText() || !isKnown("task.text", specification)) return;
    const fs::path text = textPath(specification.task.specific_settings.text("text"));
    std::error_code unreadable;
    if (!fs::exists(text, unreadable))
        throw Error(ErrorKind::usage,
                    "task.text: file or folder not found: " + text.string() +
                        "; name your own text, on the command line with --set task.text=PATH");
}

void requireInitialWeights(const Specification& specification, const fs::path& runs) {
    if (specification.training.initial_weights.empty()) return;
    const fs::path path = initialWeightsPath(specification, runs);
    std::error_code unreadable;
    if (!fs::exists(path, unreadable))
        throw Error(ErrorKind::usage,
                    "training.initial_weights: run or checkpoint not found: " + path.string());
    if (fs::is_directory(path, unreadable) && RunFolder(path).checkpoints().empty())
        throw Error(ErrorKind::usage,
                    "training.initial_weights: " + path.string() + " has no checkpoint yet");
}

/// A file to which rows are appended; a new one begins with its header.
template <class Row>
std::unique_ptr<AppendFile> openRowFile(const RunFolder& folder) {
    auto file = std::make_unique<AppendFile>(folder.pathOf<Row>());
    const std::string header = headerLine<Row>();
    if (file->empty() && !header.empty()) file->append(header);
    return file;
}

}  // namespace

std::string defaultRunName(const Specification& specification) {
    std::vector<std::string> parts = {utcTime("%Y-%m-%dT%H%MZ"), specification.methodName()};
    if (isKnown("task.name", specification)) parts.insert(parts.begin() + 1, specification.task.name);
    if (isKnown("training.model_seed", specification))
        parts.push_back("s" + std::to_string(specification.training.model_seed));
    return join(parts, "-");
}

RunFolder createRun(const fs::path& runs, const std::string& name, const Specification& requested,
                    const RunLabels& labels) {
    if (!name.empty()) requireRunName(name);
    const Specification specification = withAbsolutePaths(requested);
    requireText(specification);
    requireInitialWeights(specification, runs);
    makeFolder(runs);
    requireOwnedOrTrusted(runs);
    const fs::path building = makeHiddenFolder(runs);
    try {
        const std::string chosen = name.empty() ? uniqueName(runs, defaultRunName(specification)) : name;
        if (fs::exists(runs / chosen))
            throw Error(
                ErrorKind::usage,
                "the run " + (runs / chosen).string() + " already exists; choose another name" +
                    (specification.isImported() ? std::string()
                                                : ", or resume it with `roper-train resume " + chosen + "`"));
        try {
            fillNewRun(RunFolder(building), specification, labels);
        } catch (const Error& error) {
            // The path of the build folder is of no use to users.
            std::string what = error.what();
            if (const std::size_t at = what.find(building.string()); at != std::string::npos)
                what.replace(at, building.string().size(), (runs / chosen).string());
            throw Error(error.kind(), what);
        }
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
    requireOwnedOrTrusted(to.parent_path());
    if (fs::exists(to)) throw Error(ErrorKind::usage, "the run " + to.string() + " already exists");
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

RunRecorder::RunRecorder(RunFolder folder)
    : folder_(requireTrustedOwner(std::move(folder))), lock_(folder_.lockPath()) {
    if (!lock_.held())
        throw Error(ErrorKind::usage, "another trainer is working on " + folder_.path().string() + " (" +
                                          lock_.holder() +
                                          "); pause or stop it first, or wait until it finishes");
    lease_ = std::make_unique<Lease>(folder_.confinedPath(), reportToUser);
    makeFolder(folder_.checkpointsPath());
    removePartialFiles(folder_.confinedPath());
    removePartialFiles(folder_.checkpointsPath());
    removePartialFiles(folder_.snapshotsPath());
    log_ = std::make_unique<AppendFile>(folder_.logPath());
}

RunRecorder::~RunRecorder() {
    if (logs_crashes_) reportCrashesTo(-1);
}

void RunRecorder::openRows() {
    if (metrics_) return;
    evaluations_ = openRowFile<EvaluationRow>(folder_);
    samples_ = openRowFile<Sample>(folder_);
    events_ = std::make_unique<AppendFile>(folder_.eventsPath(), AppendFile::Content::bytes);
    if (events_->empty()) events_->append(formatEventFileStart(secondsSinceEpoch(), folder_.specification()));
    metrics_ = openRowFile<MetricsRow>(folder_);  // last: it shows that all are open
}

std::vector<std::string> RunRecorder::rewindTo(const RewindPoint& target) {
    requireLease();
    return rewindRun(folder_, target);
}

void RunRecorder::record(const MetricsRow& row) {
    requireLease();
    openRows();
    metrics_->append(formatRow(row));
    events_->append(formatEvent(eventOf(row)));
}

void RunRecorder::record(const EvaluationRow& row) {
    requireLease();
    openRows();
    evaluations_->append(formatRow(row));
    events_->append(formatEvent(eventOf(row)));
}

void RunRecorder::record(const Sample& sample) {
    requireLease();
    openRows();
    samples_->append(formatRow(sample));
}

/// The file is created with the first row, since most position methods have none.
void RunRecorder::record(const std::vector<MethodRow>& rows) {
    if (rows.empty()) return;
    requireLease();
    if (!method_) method_ = openRowFile<MethodRow>(folder_);
    for (const MethodRow& row : rows)
        method_->append(formatRow(row));
}

void RunRecorder::log(std::string_view line) {
    constexpr std::size_t kMaxBytes = 8000;
    log_->append(utcTime("%Y-%m-%dT%H:%M:%SZ  ") + toSingleLine(line.substr(0, kMaxBytes)));
}

void RunRecorder::logCrashes() {
    reportCrashesTo(log_->descriptor());
    logs_crashes_ = true;
}

void RunRecorder::setStatus(Status status, Durability durability) {
    requireLease();
    stampWithThisProcess(status);
    writeStatus(folder_.statusPath(), status, durability);
}

void RunRecorder::requireLease() {
    lease_->requireLease();
}

void RunRecorder::sync() {
    requireLease();
    if (!metrics_) return;
    metrics_->sync();
    evaluations_->sync();
    samples_->sync();
    events_->sync();
    if (method_) method_->sync();
}

void RunRecorder::quarantine(const StepFile& checkpoint) {
    requireLease();
    const Descriptor folder = openFolderOf(checkpoint.path);
    const std::string name = checkpoint.path.path().filename().string();
    if (::renameat(folder.number(), name.c_str(), folder.number(), (name + ".damaged").c_str()) != 0)
        throw diskError("rename", checkpoint.path.string(), errno);
}

void RunRecorder::pruneCheckpoints(std::int64_t keep) {
    requireLease();
    const std::vector<StepFile> all = folder_.checkpoints();
    const std::optional<std::int64_t> best = folder_.bestStep();
    for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < all.size(); ++i) {
        if (best && all[i].step == *best) continue;
        removeFileQuietly(all[i].path);
    }
}

}  // namespace roper
