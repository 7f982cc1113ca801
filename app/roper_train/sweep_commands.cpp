#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/experiment_commands.h"
#include "app/roper_train/json_line.h"
#include "app/roper_train/worker_pool.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/cluster/cluster.h"
#include "core/compare/grouping.h"
#include "core/fields/registry.h"
#include "core/runs/run_queue.h"
#include "core/runs/run_recorder.h"
#include "core/runs/sweep.h"
#include "core/specification/presets.h"

// Sweeps: trained locally, or submitted to Slurm.

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Whether two runs have the same seeds and, as far as they affect results, the same settings.
bool isSameExperiment(const Specification& a, const Specification& b) {
    return groupKey(a) == groupKey(b) && seedsOf(a) == seedsOf(b);
}

/// The folder of a sweep's run, created if missing.
/// @throws Error (usage) if a run of this name has other settings
RunFolder findOrCreateRun(const fs::path& runs, const SweepRun& requested, const std::string& sweep) {
    const RunFolder folder(runs / requested.name);
    if (!fs::exists(folder.path()))
        return createRun(runs, requested.name, requested.specification, {"Sweep " + sweep, {}, {}});
    const Specification existing = folder.specification(),
                        expected = withAbsolutePaths(requested.specification);
    if (isSameExperiment(existing, expected)) return folder;
    Specification longer = existing;
    longer.training.steps = std::max(existing.training.steps, expected.training.steps);
    throw Error(ErrorKind::usage,
                folder.path().string() + " is not the experiment that the sweep describes; " +
                    (isSameExperiment(longer, expected)
                         ? "set training.steps = " + std::to_string(expected.training.steps) +
                               " in its run.toml to continue it"
                         : "rename the sweep's file, or use another runs folder"));
}

std::string nameOfSweep(const SweepOptions& options) {
    return findSweep(options.sweep).stem().string();
}

/// Whether a run failed; an unreadable one counts as failed.
bool hasFailed(const RunFolder& folder) {
    try {
        return folder.status().state == RunState::failed;
    } catch (const Error&) {
        return true;
    }
}

/// The names of the runs that remain to be trained, and how many of the others finished or failed.
struct RemainingRuns {
    std::vector<std::string> names;
    std::size_t finished = 0, failed = 0;
};

/// Finds the runs that remain to be trained. Resets stopped ones to queued, and reports failed ones.
RemainingRuns queueRemainingRuns(const std::vector<RunFolder>& folders) {
    RemainingRuns left;
    for (const RunFolder& folder : folders) {
        const Status status = folder.status();
        const RunState state = folder.effectiveState(status);
        if (state == RunState::finished) {
            ++left.finished;
        } else if (state == RunState::failed) {
            ++left.failed;
            reportToUser(folder.name() + " failed before and is not retried: " + status.error);
        } else {
            if (state == RunState::stopped) resetToQueued(folder);
            left.names.push_back(folder.name());
        }
    }
    return left;
}

/// How training ended.
struct TrainingOutcome {
    bool all_done = false;  ///< otherwise a signal interrupted it
    std::size_t failed = 0;

    int exitCode() const {
        if (failed > 0) return static_cast<int>(ErrorKind::other);
        return all_done ? 0 : static_cast<int>(ErrorKind::preempted);
    }
};

/// Trains the runs with these names. @param threads  CPU threads of a trainer; 0: automatic
TrainingOutcome trainAll(const fs::path& runs, const std::vector<std::string>& names, int max_trainers,
                         int threads) {
    RunQueue queue;
    queue.max_trainers = max_trainers;
    queue.threads = threads;
    for (const std::string& name : names)
        queue.entries.push_back({name, false});
    TrainingOutcome end;
    const auto drop = [&](const std::string& run) {
        std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
    };
    const auto remove = [&](const std::string& run) {
        drop(run);
        end.failed += hasFailed(RunFolder(runs / run)) ? 1 : 0;
    };
    const auto give_up = [&](const std::vector<std::string>& held) {
        std::ranges::for_each(held, drop);
        end.failed += held.size();
    };
    end.all_done = WorkerPool({runs, [&] { return queue; }, remove, give_up, reportToUser}).run();
    return end;
}

/// Trains the missing runs of a sweep. @returns the exit code
int trainSweep(const std::vector<SweepRun>& requested, const SweepOptions& options) {
    const auto folders = mapped(requested, [&](const SweepRun& run) {
        return findOrCreateRun(options.runs, run, nameOfSweep(options));
    });
    const RemainingRuns left = queueRemainingRuns(folders);
    reportToUser(countOf(requested.size(), "run") + ", " + std::to_string(left.finished) +
                 " finished before");
    TrainingOutcome end = trainAll(options.runs, left.names, options.max_trainers, 0);
    end.failed += left.failed;
    if (!end.all_done) reportToUser("interrupted; the same command continues the sweep");
    return end.exitCode();
}

/// Prints the batch scripts that would be submitted, without changing anything.
int printScripts(const std::vector<SweepRun>& requested, const SweepOptions& options) {
    const std::string sweep = nameOfSweep(options);
    const auto runs_to_submit = runsToSubmit(queryCluster(options.runs, sweep, namesOf(requested)).runs);
    const std::vector<Submission> arrays = planArrays(sweep, runs_to_submit, options.slurm);
    for (const Submission& array : arrays)
        std::cout << batchScript(options.runs, array, options.slurm);
    reportToUser(countOf(runs_to_submit.size(), "run") + " in " + countOf(arrays.size(), "array") +
                 " would be submitted");
    return 0;
}

/// Submits the runs that are neither done nor submitted, and prints the id of each job.
int submitSweep(const std::vector<SweepRun>& requested, const SweepOptions& options) {
    for (const SweepRun& run : requested)
        findOrCreateRun(options.runs, run, nameOfSweep(options));
    const SubmissionReport report =
        submitRuns(options.runs, nameOfSweep(options), namesOf(requested), options.slurm);
    for (const std::string& job : report.jobs)
        std::cout << job << "\n";
    std::size_t failed = 0;
    for (const SweepRunStatus& one : report.before.runs) {
        if (one.state != RunState::failed) continue;
        ++failed;
        reportToUser(one.run + " failed and is not retried: " + one.problem);
    }
    if (report.runs_to_submit.size() < requested.size()) reportToUser(summaryOf(report.before.runs));
    reportToUser(
        report.runs_to_submit.empty()
            ? "no run remains to be submitted; pending jobs keep the options they were submitted with "
              "(--cancel cancels them)"
            : countOf(report.runs_to_submit.size(), "run") + " in " + countOf(report.jobs.size(), "array") +
                  " submitted: " + (report.jobs.size() == 1 ? "job " : "jobs ") + join(report.jobs, ", ") +
                  (report.cluster.empty() ? "" : " on the cluster " + report.cluster));
    return failed > 0 ? static_cast<int>(ErrorKind::other) : 0;
}

Json jsonOf(const SweepRunStatus& one) {
    Json json = {{"run", one.run},
                 {"stage", nameOf(one.stage())},
                 {"state", one.state ? Json(stateName(*one.state)) : Json()},
                 {"step", one.status.step},
                 {"steps", one.status.steps}};
    if (one.array_task)
        json.update({{"array_task", one.array_task->id()},
                     {"slurm_state", one.array_task->state},
                     {"reason", one.array_task->reason},
                     {"node", one.array_task->node}});
    if (one.array_task && !one.array_task->cluster.empty()) json["cluster"] = one.array_task->cluster;
    json["text"] = one.describe();
    return json;
}

/// The state of a sweep; from its run folders alone if the scheduler cannot be queried.
ClusterView lookAt(const std::vector<SweepRun>& requested, const SweepOptions& options) {
    try {
        return queryCluster(options.runs, nameOfSweep(options), namesOf(requested));
    } catch (const Error& error) {
        reportToUser("cannot query the scheduler: " + std::string(error.what()));
        return readClusterView(options.runs, nameOfSweep(options), namesOf(requested));
    }
}

int printSweep(const std::vector<SweepRun>& requested, const SweepOptions& options) {
    const ClusterView sweep = lookAt(requested, options);
    for (const SweepRunStatus& one : sweep.runs) {
        if (options.json)
            print(jsonOf(one));
        else
            std::cout << one.run << "  " << toSingleLine(one.describe()) << "\n";
    }
    reportToUser(summaryOf(sweep.runs));
    return 0;
}

int cancelSweep(const std::vector<SweepRun>& requested, const SweepOptions& options) {
    const ClusterView sweep = queryCluster(options.runs, nameOfSweep(options), namesOf(requested));
    const std::vector<SlurmArrayTask> own = sweep.ownActiveTasks();
    cancelArrayTasks(own);
    if (const std::size_t others = sweep.active.size() - own.size(); others > 0)
        reportToUser("not cancelled: " + countOf(others, "array task") +
                     " submitted by others or from another machine; use `scancel` for those that are yours");
    reportToUser(countOf(own.size(), "array task") + " cancelled; their checkpoints are kept");
    return 0;
}

/// Number of steps saved in checkpoints, which resumed trainers need not repeat.
std::int64_t savedSteps(const std::vector<RunFolder>& folders) {
    std::int64_t steps = 0;
    for (const RunFolder& folder : folders)
        if (const auto checkpoints = folder.checkpoints(); !checkpoints.empty())
            steps += checkpoints.back().step;
    return steps;
}

/// Requeues this Slurm array task after it was told to stop, unless Slurm no longer runs it: then it was
/// cancelled, or is already requeued.
/// @param has_progressed  whether it has saved any steps
void requeueThisArrayTask(bool has_progressed) {
    const std::string array = environmentVariable("SLURM_ARRAY_JOB_ID"),
                      index = environmentVariable("SLURM_ARRAY_TASK_ID");
    if (array.empty() || index.empty()) return;
    const auto number = parseInteger(index);
    if (!number || !isRunning(array + "_" + index)) return;
    if (!has_progressed)
        throw Error(ErrorKind::other,
                    "no step was saved before the time limit; give the array tasks a longer --time");
    SlurmArrayTask array_task;
    array_task.job = array;
    array_task.index = *number;
    requeueArrayTask(array_task);
    reportToUser("time limit reached; the array task is requeued and will resume");
}

}  // namespace

int sweepCommand(const SweepOptions& options) {
    const fs::path path = findSweep(options.sweep);
    std::vector<SweepRun> requested = readSweep(path);
    if ((options.show_status || options.cancel) && !fs::exists(options.runs))
        reportToUser("runs folder not found: " + options.runs.string() + " (--runs)");
    if (options.show_status) return printSweep(requested, options);
    if (options.cancel) return cancelSweep(requested, options);
    if (options.dry_run) return printScripts(requested, options);
    if (options.use_slurm) return submitSweep(requested, options);
    if (options.only >= 0) {
        if (options.only >= static_cast<std::int64_t>(requested.size()))
            throw Error(ErrorKind::usage,
                        path.string() + " has runs 0 to " + std::to_string(requested.size() - 1));
        requested = {requested[static_cast<std::size_t>(options.only)]};
    }
    return trainSweep(requested, options);
}

int workCommand(const fs::path& file, std::optional<std::int64_t> array_task,
                const std::string& fingerprint) {
    const fs::path path = fs::absolute(file).lexically_normal();
    const Submission submission = readSubmission(path);
    if (!fingerprint.empty() && runListFingerprint(submission) != fingerprint)
        throw Error(ErrorKind::usage,
                    path.string() + " does not contain the runs that were submitted; it has been changed");
    const auto count = static_cast<std::int64_t>(submission.array_tasks.size());
    if (!array_task) array_task = parseInteger(environmentVariable("SLURM_ARRAY_TASK_ID"));
    if (!array_task)
        throw Error(ErrorKind::usage,
                    "no array task given: use --array-task, or set SLURM_ARRAY_TASK_ID as Slurm does");
    if (*array_task < 0 || *array_task >= count)
        throw Error(ErrorKind::usage, path.string() + " has array tasks 0 to " + std::to_string(count - 1));
    const fs::path runs = path.parent_path().parent_path();
    const auto folders = mapped(submission.array_tasks[static_cast<std::size_t>(*array_task)],
                                [&](const std::string& name) { return RunFolder(runs / name); });
    const RemainingRuns left = queueRemainingRuns(folders);
    const std::int64_t steps_before = savedSteps(folders);
    const auto threads =
        static_cast<int>(parseInteger(environmentVariable("SLURM_CPUS_PER_TASK")).value_or(0));
    TrainingOutcome end = trainAll(runs, left.names, 1, threads);
    end.failed += left.failed;
    if (!end.all_done) requeueThisArrayTask(savedSteps(folders) > steps_before);
    return end.exitCode();
}

}  // namespace roper
