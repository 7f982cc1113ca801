#include "core/cluster/sweep_elements.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

bool isRunning(const SweepElement& one) {
    return one.state == RunState::running || one.state == RunState::paused;
}

std::string stepsOf(const Status& status) {
    return "step " + std::to_string(status.step) + " of " + std::to_string(status.steps);
}

/// The last line printed by the most recent element that had this run; empty if there is none.
std::string lastLogLine(const fs::path& runs, const std::string& run,
                        const std::vector<Submission>& submissions) {
    std::string line;
    fs::file_time_type latest = fs::file_time_type::min();
    for (const Submission& submission : submissions) {
        for (std::size_t i = 0; i < submission.elements.size(); ++i) {
            const auto& names = submission.elements[i];
            if (std::find(names.begin(), names.end(), run) == names.end()) continue;
            const FilePath log = logOf(runs, submission.name, static_cast<std::int64_t>(i));
            std::error_code missing;
            const fs::file_time_type time = fs::last_write_time(log.path(), missing);
            if (missing || time < latest) continue;
            try {
                line = onOneLine(lastLine(log).value_or(""));
                latest = time;
            } catch (const Error& error) {
                line = error.what();
            }
        }
    }
    return line;
}

SweepElement readRun(const fs::path& runs, const std::string& name) {
    SweepElement one;
    one.run = name;
    const RunFolder folder(runs / name);
    try {
        if (!isThere(folder.statusPath())) return one;
        one.status = folder.status();
        one.state = folder.trueState(one.status);
        if (one.state == RunState::unfinished)
            one.status.steps = folder.raisedSteps(one.status).value_or(one.status.steps);
        one.problem = one.status.error;
    } catch (const Error& error) {
        one.state = RunState::failed;
        one.problem = error.what();
    }
    return one;
}

}  // namespace

const char* nameOf(Stage stage) {
    constexpr std::array kNames{"finished",   "running",       "waiting", "failed",
                                "unfinished", "not submitted", "unknown"};
    return kNames.at(static_cast<std::size_t>(stage));
}

Stage SweepElement::stage() const {
    if (isFinished()) return Stage::finished;
    if (isRunning(*this)) return Stage::running;
    if (state == RunState::failed) return Stage::failed;
    if (element) return Stage::waiting;
    if (!is_known) return Stage::unknown;
    return status.step > 0 ? Stage::unfinished : Stage::not_submitted;
}

double SweepElement::progress() const {
    if (isFinished()) return 1;
    return status.steps > 0
               ? std::clamp(static_cast<double>(status.step) / static_cast<double>(status.steps), 0.0, 1.0)
               : 0;
}

bool SweepElement::isTaken() const {
    return element.has_value() || isRunning(*this);
}

std::string SweepElement::describe() const {
    const std::string where = element && !element->node.empty() ? element->node : status.host;
    const std::string of_slurm = element ? " (" + element->title() + ")" : std::string();
    if (!state) return element ? "waiting" + of_slurm + ", its folder is gone" : "not submitted";
    if (isFinished()) return "finished";
    if (isRunning(*this)) return stateName(*state) + " on " + where + of_slurm + ", " + stepsOf(status);
    if (state == RunState::failed) return "failed: " + problem;
    const std::string progress = status.step > 0 ? ", " + stepsOf(status) : std::string();
    if (element && element->isPending())
        return "waiting" + of_slurm + (element->reason.empty() ? "" : ": " + element->reason) + progress;
    if (element) return "waiting on " + where + of_slurm + progress;
    if (!is_known) return "submitted; it is not known whether it waits" + progress;
    const std::string left = status.step > 0 ? stateName(*state) + progress : std::string("not submitted");
    return problem.empty() ? left : left + "; its element ended: " + problem;
}

std::vector<SweepElement> sweepElements(const fs::path& runs, const std::vector<std::string>& names,
                                        const std::vector<Submission>& submissions,
                                        const std::vector<SlurmElement>& elements) {
    std::map<std::string, const SlurmElement*> of_run;
    for (const SlurmElement& element : elements)
        for (const Submission& submission : submissions)
            if (submission.name == element.name &&
                element.index < static_cast<std::int64_t>(submission.elements.size()))
                for (const std::string& run : submission.elements[static_cast<std::size_t>(element.index)])
                    of_run[run] = &element;
    std::vector<SweepElement> all;
    for (const std::string& name : names) {
        SweepElement& one = all.emplace_back(readRun(runs, name));
        if (const auto found = of_run.find(name); found != of_run.end() && !one.isFinished())
            one.element = *found->second;
        const bool has_ended_well = one.isFinished() || one.state == RunState::unfinished;
        if (one.state && !one.isTaken() && !has_ended_well && one.problem.empty())
            one.problem = lastLogLine(runs, name, submissions);
    }
    return all;
}

std::string summaryOf(const std::vector<SweepElement>& elements) {
    std::map<Stage, std::size_t> counts;
    for (const SweepElement& one : elements)
        ++counts[one.stage()];
    std::vector<std::string> parts;
    for (const auto& [stage, count] : counts)
        parts.push_back(std::to_string(count) + " " + nameOf(stage));
    return countOf(elements.size(), "run") + (parts.empty() ? "" : ": " + join(parts, ", "));
}

}  // namespace roper
