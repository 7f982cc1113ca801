#include "core/runs/run_folder.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/base/crash_report.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_lock.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/fields/toml_text.h"
#include "core/runs/user_record.h"

namespace roper {
namespace {

constexpr std::uint64_t kMaxLabelBytes = 1 << 20;

bool isTag(const std::string& text) {
    return !text.empty() && text.find_first_of(" \t\r\n") == std::string::npos;
}

std::vector<std::string> readTags(const toml::node& node, const std::string& origin) {
    if (!node.is_array()) refuseToml(origin, node.source(), "tags must be a list such as [\"thesis\"]");
    std::vector<std::string> tags;
    for (const toml::node& each : *node.as_array()) {
        tags.push_back(readTomlText(each, origin, "a tag"));
        if (!isTag(tags.back())) refuseToml(origin, each.source(), "a tag must be one word");
    }
    return tags;
}

}  // namespace

namespace fs = std::filesystem;

namespace {

/// Whether this folder contains a run, or something that looks like one. An inaccessible folder (a loop of
/// links, another user's private folder) does not.
bool isRunFolder(const fs::path& folder) {
    std::error_code unreadable;
    return fs::is_directory(folder, unreadable) &&
           fs::exists(fs::symlink_status(folder / "run.toml", unreadable));
}

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kStepSuffix = ".safetensors";
constexpr std::string_view kEventsPrefix = "events.out.tfevents.";

std::string stepFileName(std::int64_t step) {
    std::string digits = std::to_string(step);
    digits.insert(0, digits.size() < 8 ? 8 - digits.size() : 0, '0');
    return std::string(kStepPrefix).append(digits).append(kStepSuffix);
}

/// The files of a folder named after a step, by ascending step.
std::vector<StepFile> stepFiles(const FilePath& folder) {
    std::vector<StepFile> found;
    for (const std::string& name : listFolder(folder)) {
        if (!name.starts_with(kStepPrefix) || !name.ends_with(kStepSuffix)) continue;
        const auto digits = std::string_view(name).substr(
            kStepPrefix.size(), name.size() - kStepPrefix.size() - kStepSuffix.size());
        if (const auto step = parseInteger(digits)) found.push_back({*step, folder / name});
    }
    std::ranges::sort(found, {}, &StepFile::step);
    return found;
}

std::optional<std::vector<StepFile>> stepFilesIfReadable(const FilePath& folder) {
    try {
        return stepFiles(folder);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
    if (!path_.has_filename()) path_ = path_.parent_path();  // "runs/a/" and "runs/a" are the same run
    if (path_.filename() == "." || path_.filename() == "..") {
        std::error_code missing;
        const fs::path named = fs::canonical(path_, missing);
        if (!missing) path_ = named;
    }
}

FilePath RunFolder::confinedPath() const {
    return FilePath::inside(path_.parent_path(), path_.filename());
}

FilePath RunFolder::checkpointPath(std::int64_t step) const {
    return checkpointsPath() / stepFileName(step);
}

FilePath RunFolder::snapshotPath(std::int64_t step) const {
    return snapshotsPath() / stepFileName(step);
}

FilePath RunFolder::eventsPath() const {
    for (const std::string& name : listFolder(confinedPath()))
        if (name.starts_with(kEventsPrefix) && name.find(kPartialMark) == std::string::npos)
            return file(name);
    // TensorBoard requires a time and a host in the name; for privacy, the host is not this machine's name.
    const auto seconds = static_cast<std::int64_t>(secondsSinceEpoch());
    return file(std::string(kEventsPrefix).append(std::to_string(seconds)).append(".roper-lab"));
}

RunState RunFolder::effectiveState(const Status& status) const {
    if (reportsActive(status))
        return writerIsAlive(status, [&] { return isLockHeld(lockPath()); }) ? status.state
                                                                             : RunState::interrupted;
    try {
        return stepsToContinueTo(status) ? RunState::unfinished : status.state;
    } catch (const Error&) {
        return status.state;  // code that needs the unreadable file reports it
    }
}

std::optional<std::int64_t> RunFolder::stepsToContinueTo(const Status& status) const {
    if (status.state != RunState::finished) return std::nullopt;
    const std::int64_t requested = specification().training.steps;
    const bool should_continue = requested > status.steps && !checkpoints().empty();
    return should_continue ? std::optional(requested) : std::nullopt;
}

std::optional<std::string> RunFolder::crash(const Status& status) const {
    constexpr std::size_t kEnd = 4096;
    try {
        return findCrash(readEnd(logPath(), kEnd), status.pid, status.process_start);
    } catch (const Error&) {
        return std::nullopt;
    }
}

template <class Row>
void RunFolder::forEachRow(const std::function<void(const Row&)>& visit) const {
    const FilePath path = pathOf<Row>();
    LineReader lines(path);
    while (const auto line = lines.next()) {
        if (lines.number() == 1 && isHeader<Row>(*line)) continue;
        try {
            visit(parseRow<Row>(*line));
        } catch (const Error& error) {
            throw Error(error.kind(),
                        path.string() + ":" + std::to_string(lines.number()) + ": " + error.what());
        }
    }
}

/// Maximal size in bytes of a file of rows that windows read completely. Metrics, evaluations and samples are
/// read incrementally.
template <class Row>
constexpr std::uint64_t maxBytesOfRows() {
    constexpr bool is_read_incrementally =
        std::is_same_v<Row, MetricsRow> || std::is_same_v<Row, EvaluationRow> || std::is_same_v<Row, Sample>;
    return is_read_incrementally ? std::numeric_limits<std::uint64_t>::max() : 32U << 20U;
}

template <class Row>
std::vector<Row> RunFolder::rows() const {
    const FilePath path = pathOf<Row>();
    if (pathExists(path) && fileSize(path) > maxBytesOfRows<Row>())
        throw Error(ErrorKind::disk, path.string() + " is larger than " +
                                         formatBytes(static_cast<double>(maxBytesOfRows<Row>())) +
                                         ", more than any run writes; move it away to continue without it");
    std::vector<Row> rows;
    forEachRow<Row>([&](const Row& row) { rows.push_back(row); });
    return rows;
}

template <class Row>
std::optional<Row> RunFolder::lastRow() const {
    const FilePath path = pathOf<Row>();
    const auto line = lastLine(path);
    if (!line || isHeader<Row>(*line)) return std::nullopt;
    try {
        return parseRow<Row>(*line);
    } catch (const Error& error) {
        throw Error(error.kind(), path.string() + ": last line: " + error.what());
    }
}

#define ROPER_INSTANTIATE_READING(Row)                                                 \
    template void RunFolder::forEachRow(const std::function<void(const Row&)>&) const; \
    template std::vector<Row> RunFolder::rows() const;                                 \
    template std::optional<Row> RunFolder::lastRow() const

ROPER_INSTANTIATE_READING(MetricsRow);
ROPER_INSTANTIATE_READING(EvaluationRow);
ROPER_INSTANTIATE_READING(MethodRow);
ROPER_INSTANTIATE_READING(SizeRow);
ROPER_INSTANTIATE_READING(LengthRow);
ROPER_INSTANTIATE_READING(PositionRow);
ROPER_INSTANTIATE_READING(Sample);

std::vector<StepFile> RunFolder::checkpoints() const {
    return stepFiles(checkpointsPath());
}

std::vector<StepFile> RunFolder::snapshots() const {
    return stepFiles(snapshotsPath());
}

std::optional<std::vector<StepFile>> RunFolder::checkpointsIfReadable() const {
    return stepFilesIfReadable(checkpointsPath());
}

std::optional<std::vector<StepFile>> RunFolder::snapshotsIfReadable() const {
    return stepFilesIfReadable(snapshotsPath());
}

std::optional<std::int64_t> RunFolder::bestStep() const {
    const std::optional<EvaluationRow> best = bestOf(evaluations());
    return best ? std::optional(best->step) : std::nullopt;
}

bool isRunName(std::string_view name) {
    const auto alphanumeric = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !name.empty() && name.size() <= 64 && alphanumeric(name.front()) &&
           std::ranges::all_of(name,
                               [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

StepFile chooseCheckpoint(const RunFolder& folder, std::optional<std::int64_t> step) {
    const std::vector<StepFile> all = folder.checkpoints();
    std::vector<std::string> steps;
    for (const StepFile& checkpoint : all) {
        if (checkpoint.step == step) return checkpoint;
        steps.push_back(std::to_string(checkpoint.step));
    }
    if (all.empty()) {
        const bool is_imported = folder.specification().isImported();
        throw Error(ErrorKind::checkpoint,
                    folder.path().string() + (is_imported ? " contains imported metrics, and so no checkpoint"
                                                          : " has no checkpoint yet"));
    }
    if (!step) return all.back();
    throw Error(ErrorKind::checkpoint, folder.path().string() + " has no checkpoint at step " +
                                           std::to_string(*step) + "; it has " + join(steps, ", "));
}

RunFolder findRun(const std::string& path_or_name, const fs::path& runs) {
    // The path comes from the user, so a symbolic link as its last part is followed, once.
    if (isRunFolder(path_or_name)) {
        const fs::path path(path_or_name);
        return RunFolder(fs::is_symlink(path) ? fs::canonical(path) : path);
    }
    if (isRunName(path_or_name) && isRunFolder(runs / path_or_name)) return RunFolder(runs / path_or_name);
    const auto nearest = closestName(path_or_name, mapped(listRuns(runs), &RunFolder::name));
    throw Error(ErrorKind::usage,
                "run not found: \"" + path_or_name + "\" is neither a path nor in " + runs.string() +
                    (nearest ? "; did you mean " + *nearest + "?"
                             : "; `roper-train list` shows the runs, --runs names another folder"));
}

std::vector<RunFolder> listRuns(const fs::path& runs) {
    std::vector<RunFolder> found;
    for (const std::string& name : listFolder(runs))
        if (isRunName(name) && isRunFolder(runs / name)) found.emplace_back(runs / name);
    return found;
}

fs::path defaultRunsFolder() {
    return isDefaultRunsFolderRelative() ? "runs" : environmentVariable("ROPER_LAB_RUNS");
}

bool isDefaultRunsFolderRelative() {
    return environmentVariable("ROPER_LAB_RUNS").empty();
}

FilePath labelsPath(const RunFolder& run) {
    return run.file("labels.toml");
}

RunLabels parseLabels(std::string_view text, const std::string& origin) {
    RunLabels labels;
    for (const auto& [key, node] : parseToml(text, origin)) {
        if (key == "experiment")
            labels.experiment = readTomlText(node, origin, "experiment");
        else if (key == "note")
            labels.note = readTomlText(node, origin, "note");
        else if (key == "tags")
            labels.tags = readTags(node, origin);
        else
            refuseToml(origin, key.source(),
                       "unknown key \"" + std::string(key.str()) + "\"; expected experiment, tags or note");
    }
    return labels;
}

RunLabels readLabels(const RunFolder& run) {
    const FilePath path = labelsPath(run);
    if (!pathExists(path)) return {};
    return parseLabels(readFile(path, kMaxLabelBytes), path.string());
}

std::string toToml(const RunLabels& labels) {
    std::string text = "# Labels of this run; they can be changed at any time.\n";
    if (!labels.experiment.empty()) text += "experiment = " + quotedToml(labels.experiment) + '\n';
    if (!labels.tags.empty()) text += "tags = [" + join(mapped(labels.tags, quotedToml), ", ") + "]\n";
    if (!labels.note.empty()) text += "note = " + quotedToml(labels.note) + '\n';
    return text;
}

void writeLabels(const RunFolder& run, const RunLabels& labels) {
    for (const std::string& tag : labels.tags)
        if (!isTag(tag)) throw Error(ErrorKind::usage, "a tag must be one word, not \"" + tag + "\"");
    requireOwnedOrTrusted(run.path());
    writeFileAtomically(labelsPath(run), toToml(labels));
}

}  // namespace roper
