#include "core/runs/run_folder.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

/// Whether there is a run in this folder. What cannot be entered (a loop of links, another's private folder)
/// holds none.
bool holdsRun(const fs::path& folder) {
    std::error_code unreadable;
    return fs::is_regular_file(folder / "run.toml", unreadable);
}

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kStepSuffix = ".safetensors";
constexpr std::string_view kEventsPrefix = "events.out.tfevents.";

std::string stepFileName(std::int64_t step) {
    std::string digits = std::to_string(step);
    digits.insert(0, digits.size() < 8 ? 8 - digits.size() : 0, '0');
    return std::string(kStepPrefix).append(digits).append(kStepSuffix);
}

/// The files of a folder that are named for a step, by rising step.
std::vector<StepFile> stepFiles(const fs::path& folder) {
    std::vector<StepFile> found;
    std::error_code unreadable;
    for (fs::directory_iterator at(folder, unreadable), end; !unreadable && at != end;
         at.increment(unreadable)) {
        const std::string name = at->path().filename().string();
        if (!name.starts_with(kStepPrefix) || !name.ends_with(kStepSuffix)) continue;
        const auto digits = std::string_view(name).substr(
            kStepPrefix.size(), name.size() - kStepPrefix.size() - kStepSuffix.size());
        if (const auto step = parseInteger(digits)) found.push_back({*step, at->path()});
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    return found;
}

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
    if (!path_.has_filename()) path_ = path_.parent_path();  // "runs/a/" and "runs/a" are the same run
}

fs::path RunFolder::checkpointPath(std::int64_t step) const {
    return checkpointsPath() / stepFileName(step);
}

fs::path RunFolder::snapshotPath(std::int64_t step) const {
    return snapshotsPath() / stepFileName(step);
}

fs::path RunFolder::eventsPath() const {
    std::error_code unreadable;
    for (fs::directory_iterator at(path_, unreadable), end; !unreadable && at != end;
         at.increment(unreadable))
        if (at->path().filename().string().starts_with(kEventsPrefix) &&
            at->path().string().find(kPartialMark) == std::string::npos)
            return at->path();
    // TensorBoard asks for seconds since 1970 and a host; the name says nothing of the machine.
    const auto seconds = static_cast<std::int64_t>(secondsSinceEpoch());
    return path_ / std::string(kEventsPrefix).append(std::to_string(seconds)).append(".roper-lab");
}

template <class Row>
std::vector<Row> RunFolder::rows() const {
    const fs::path path = pathOf<Row>();
    std::vector<Row> rows;
    if (!fs::exists(path)) return rows;
    std::string content = readFile(path);
    content.resize(
        content.rfind('\n') == std::string::npos ? 0 : content.rfind('\n'));  // a torn last line is no row
    if (content.empty()) return rows;
    std::size_t number = 0;
    for (const std::string& line : split(content, '\n')) {
        ++number;
        if (number == 1 && isHeader<Row>(line)) continue;
        try {
            rows.push_back(parseRow<Row>(line));
        } catch (const Error& error) {
            throw Error(error.kind(), path.string() + ":" + std::to_string(number) + ": " + error.what());
        }
    }
    return rows;
}

template std::vector<MetricsRow> RunFolder::rows() const;
template std::vector<EvaluationRow> RunFolder::rows() const;
template std::vector<MethodRow> RunFolder::rows() const;
template std::vector<SizeRow> RunFolder::rows() const;
template std::vector<LengthRow> RunFolder::rows() const;
template std::vector<PositionRow> RunFolder::rows() const;
template std::vector<Sample> RunFolder::rows() const;

std::vector<StepFile> RunFolder::checkpoints() const {
    return stepFiles(checkpointsPath());
}

std::vector<StepFile> RunFolder::snapshots() const {
    return stepFiles(snapshotsPath());
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
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

RunFolder findRun(const std::string& path_or_name, const fs::path& runs) {
    for (const fs::path& candidate : {fs::path(path_or_name), runs / path_or_name})
        if (holdsRun(candidate)) return RunFolder(candidate);
    std::vector<std::string> names;
    for (const RunFolder& run : listRuns(runs))
        names.push_back(run.name());
    const auto nearest = nearestName(path_or_name, names);
    throw Error(ErrorKind::usage,
                "there is no run \"" + path_or_name + "\", neither as a path nor in " + runs.string() +
                    (nearest ? "; did you mean " + *nearest + "?"
                             : "; `roper-train list` shows the runs, --runs names another folder"));
}

std::vector<RunFolder> listRuns(const fs::path& runs) {
    std::vector<RunFolder> found;
    std::error_code unreadable;
    for (fs::directory_iterator at(runs, unreadable), end; !unreadable && at != end; at.increment(unreadable))
        if (isRunName(at->path().filename().string()) && holdsRun(at->path())) found.emplace_back(at->path());
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name() < b.name(); });
    return found;
}

fs::path defaultRunsFolder() {
    const char* named = std::getenv("ROPER_LAB_RUNS");
    return named != nullptr && *named != '\0' ? fs::path(named) : fs::path("runs");
}

}  // namespace roper
