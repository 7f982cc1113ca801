#include "core/cluster/sweep_run_status.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

bool isRunning(const SweepRunStatus& one) {
    return one.state == RunState::running || one.state == RunState::paused;
}

std::string stepsOf(const Status& status) {
    return "step " + std::to_string(status.step) + " of " + std::to_string(status.steps);
}

/// The last line printed by the most recent array task that had this run; empty if there is none.
std::string lastLogLine(const fs::path& runs, const std::string& run,
                        const std::vector<Submission>& submissions) {
    std::string line;
    fs::file_time_type latest = fs::file_time_type::min();
    for (const Submission& submission : submissions) {
        for (std::size_t i = 0; i < submission.array_tasks.size(); ++i) {
            const auto& names = submission.array_tasks[i];
            if (!hasElement(names, run)) continue;
            const FilePath log = arrayTaskLogPath(runs, submission.name, static_cast<std::int64_t>(i));
            std::error_code missing;
            const fs::file_time_type time = fs::last_write_time(log.path(), missing);
            if (missing || time < latest) continue;
            try {
                line = toSingleLine(lastLine(log).value_or(""));
                latest = time;
            } catch (const Error& error) {
                line = error.what();
            }
        }
    }
    return line;
}

SweepRunStatus readRun(const fs::path& runs, const std::string& name) {
    SweepRunStatus one;
    one.run = name;
    const RunFolder folder(runs / name);
    try {
        if (!pathExists(folder.statusPath())) return one;
        one.status = folder.status();
        one.state = folder.effectiveState(one.status);
        if (one.state == RunState::unfinished)
            one.status.steps = folder.stepsToContinueTo(one.status).value_or(one.status.steps);
        one.problem = one.status.error;
    } catch (const Error& error) {
        one.state = RunState::failed;
        one.problem = error.what();
    }
    return one;
}

}  // namespace

const char* nameOf(SweepRunStage stage) {
    constexpr std::array kNames{"finished",   "running",       "waiting", "failed",
                                "unfinished", "not submitted", "unknown"};
    return kNames.at(static_cast<std::size_t>(stage));
}

SweepRunStage SweepRunStatus::stage() const {
    if (isFinished()) return SweepRunStage::finished;
    if (isRunning(*this)) return SweepRunStage::running;
    if (state == RunState::failed) return SweepRunStage::failed;
    if (array_task) return SweepRunStage::waiting;
    if (!is_state_known) return SweepRunStage::unknown;
    return status.step > 0 ? SweepRunStage::unfinished : SweepRunStage::not_submitted;
}

double SweepRunStatus::progress() const {
    if (isFinished()) return 1;
    return status.steps > 0
               ? std::clamp(static_cast<double>(status.step) / static_cast<double>(status.steps), 0.0, 1.0)
               : 0;
}

bool SweepRunStatus::isSubmittedOrRunning() const {
    return array_task.has_value() || isRunning(*this);
}

std::string SweepRunStatus::describe() const {
    const std::string where = array_task && !array_task->node.empty() ? array_task->node : status.host;
    const std::string of_slurm = array_task ? " (" + array_task->title() + ")" : std::string();
    if (!state) return array_task ? "waiting" + of_slurm + ", its folder is missing" : "not submitted";
    if (isFinished()) return "finished";
    if (isRunning(*this)) return stateName(*state) + " on " + where + of_slurm + ", " + stepsOf(status);
    if (state == RunState::failed) return "failed: " + problem;
    const std::string progress = status.step > 0 ? ", " + stepsOf(status) : std::string();
    if (array_task && array_task->isPending())
        return "waiting" + of_slurm + (array_task->reason.empty() ? "" : ": " + array_task->reason) +
               progress;
    if (array_task) return "waiting on " + where + of_slurm + progress;
    if (!is_state_known) return "submitted; state in Slurm unknown" + progress;
    const std::string left = status.step > 0 ? stateName(*state) + progress : std::string("not submitted");
    return problem.empty() ? left : left + "; its array task ended: " + problem;
}

std::vector<SweepRunStatus> sweepRunStatuses(const fs::path& runs, const std::vector<std::string>& names,
                                             const std::vector<Submission>& submissions,
                                             const std::vector<SlurmArrayTask>& array_tasks) {
    std::map<std::string, const SlurmArrayTask*> of_run;
    for (const SlurmArrayTask& array_task : array_tasks)
        for (const Submission& submission : submissions)
            if (submission.name == array_task.name &&
                array_task.index < static_cast<std::int64_t>(submission.array_tasks.size()))
                for (const std::string& run :
                     submission.array_tasks[static_cast<std::size_t>(array_task.index)])
                    of_run[run] = &array_task;
    std::vector<SweepRunStatus> all;
    for (const std::string& name : names) {
        SweepRunStatus& one = all.emplace_back(readRun(runs, name));
        if (const auto found = of_run.find(name); found != of_run.end() && !one.isFinished())
            one.array_task = *found->second;
        const bool has_ended_well = one.isFinished() || one.state == RunState::unfinished;
        if (one.state && !one.isSubmittedOrRunning() && !has_ended_well && one.problem.empty())
            one.problem = lastLogLine(runs, name, submissions);
    }
    return all;
}

std::string summaryOf(const std::vector<SweepRunStatus>& runs) {
    std::map<SweepRunStage, std::size_t> counts;
    for (const SweepRunStatus& one : runs)
        ++counts[one.stage()];
    const auto parts =
        mapped(counts, [](const auto& one) { return std::to_string(one.second) + " " + nameOf(one.first); });
    return countOf(runs.size(), "run") + (parts.empty() ? "" : ": " + join(parts, ", "));
}

}  // namespace roper
