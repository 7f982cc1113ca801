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
#include "core/runs/run_queue.h"
#include "core/runs/run_recorder.h"
#include "core/runs/sweep.h"
#include "core/specification/presets.h"

// Sweeps: trained locally, or submitted to Slurm.

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Whether two runs belong to one experiment and have the same seeds.
bool areTheSame(const Specification& a, const Specification& b) {
    const auto seeds = [](const Specification& s) {
        return std::pair(s.training.data_seed, s.training.model_seed);
    };
    return groupKey(a) == groupKey(b) && seeds(a) == seeds(b);
}

/// The run of a sweep, created if missing. @throws Error (usage) if an existing one is of another experiment
RunFolder findOrMake(const fs::path& runs, const SweepRun& wanted, const std::string& sweep) {
    const RunFolder folder(runs / wanted.name);
    if (!fs::exists(folder.path()))
        return createRun(runs, wanted.name, wanted.specification, {"Sweep " + sweep, {}, {}});
    const Specification there = folder.specification(), expected = withAbsoluteText(wanted.specification);
    if (areTheSame(there, expected)) return folder;
    Specification longer = there;
    longer.training.steps = std::max(there.training.steps, expected.training.steps);
    throw Error(ErrorKind::usage,
                folder.path().string() + " is another experiment than the sweep asks for; " +
                    (areTheSame(longer, expected)
                         ? "with training.steps = " + std::to_string(expected.training.steps) +
                               " in its run.toml it goes on"
                         : "give the sweep another file name, or the runs another folder"));
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

/// The runs that remain to be trained, and the state of the others.
struct LeftOver {
    std::vector<std::string> names;
    std::size_t finished = 0, failed = 0;
};

LeftOver leftOver(const std::vector<RunFolder>& folders) {
    LeftOver left;
    for (const RunFolder& folder : folders) {
        const Status status = folder.status();
        const RunState state = folder.trueState(status);
        if (state == RunState::finished) {
            ++left.finished;
        } else if (state == RunState::failed) {
            ++left.failed;
            tellPerson(folder.name() + " failed before and is not tried again: " + status.error);
        } else {
            if (state == RunState::stopped) allowToGoOn(folder);
            left.names.push_back(folder.name());
        }
    }
    return left;
}

/// How training ended.
struct TrainingEnd {
    bool all_done = false;  ///< otherwise it was asked to end
    std::size_t failed = 0;

    int exitCode() const {
        if (failed > 0) return static_cast<int>(ErrorKind::other);
        return all_done ? 0 : static_cast<int>(ErrorKind::preempted);
    }
};

TrainingEnd trainAll(const fs::path& runs, const std::vector<std::string>& names, int at_once, int threads) {
    RunQueue queue;
    queue.at_once = at_once;
    queue.threads = threads;
    for (const std::string& name : names)
        queue.entries.push_back({name, false});
    TrainingEnd end;
    const auto drop = [&](const std::string& run) {
        std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
    };
    const auto remove = [&](const std::string& run) {
        drop(run);
        end.failed += hasFailed(RunFolder(runs / run)) ? 1 : 0;
    };
    const auto give_up = [&](const std::vector<std::string>& held) {
        std::for_each(held.begin(), held.end(), drop);
        end.failed += held.size();
    };
    end.all_done = WorkerPool({runs, [&] { return queue; }, remove, give_up, tellPerson}).run();
    return end;
}

/// Trains the missing runs of a sweep. @returns the exit code
int trainSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    std::vector<RunFolder> folders;
    for (const SweepRun& run : wanted)
        folders.push_back(findOrMake(options.runs, run, nameOfSweep(options)));
    const LeftOver left = leftOver(folders);
    tellPerson(countOf(wanted.size(), "run") + ", " + std::to_string(left.finished) + " finished before");
    TrainingEnd end = trainAll(options.runs, left.names, options.at_once, 0);
    end.failed += left.failed;
    if (!end.all_done) tellPerson("interrupted; the same command continues where it was");
    return end.exitCode();
}

std::vector<std::string> namesOf(const std::vector<SweepRun>& wanted) {
    std::vector<std::string> names;
    for (const SweepRun& run : wanted)
        names.push_back(run.name);
    return names;
}

/// Prints the scripts to be submitted, without changing anything.
int printScripts(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    const std::string sweep = nameOfSweep(options);
    const auto missing = missingOf(lookAtCluster(options.runs, sweep, namesOf(wanted)).elements);
    const std::vector<Submission> arrays = plannedArrays(sweep, missing, options.slurm);
    for (const Submission& array : arrays)
        std::cout << scriptOf(options.runs, array, options.slurm);
    tellPerson(countOf(missing.size(), "run") + " in " + countOf(arrays.size(), "array") +
               " would be submitted");
    return 0;
}

/// Submits the runs that are neither finished nor submitted, and prints the id of each job.
int submitSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    for (const SweepRun& run : wanted)
        findOrMake(options.runs, run, nameOfSweep(options));
    const SubmissionReport report =
        submitMissing(options.runs, nameOfSweep(options), namesOf(wanted), options.slurm);
    for (const std::string& job : report.jobs)
        std::cout << job << "\n";
    std::size_t failed = 0;
    for (const SweepElement& one : report.before.elements) {
        if (one.state != RunState::failed) continue;
        ++failed;
        tellPerson(one.run + " failed and is not tried again: " + one.problem);
    }
    if (report.missing.size() < wanted.size()) tellPerson(summaryOf(report.before.elements));
    tellPerson(
        report.missing.empty()
            ? "all missing runs are already submitted; pending jobs keep the options they were submitted "
              "with (--cancel cancels them)"
            : countOf(report.missing.size(), "run") + " in " + countOf(report.jobs.size(), "array") +
                  " submitted: job " + join(report.jobs, ", ") +
                  (report.cluster.empty() ? "" : " on the cluster " + report.cluster));
    return failed > 0 ? static_cast<int>(ErrorKind::other) : 0;
}

Json jsonOf(const SweepElement& one) {
    Json json = {{"run", one.run},
                 {"stage", nameOf(one.stage())},
                 {"state", one.state ? Json(stateName(*one.state)) : Json()},
                 {"step", one.status.step},
                 {"steps", one.status.steps}};
    if (one.element)
        json.update({{"element", one.element->id()},
                     {"slurm_state", one.element->state},
                     {"reason", one.element->reason},
                     {"node", one.element->node}});
    if (one.element && !one.element->cluster.empty()) json["cluster"] = one.element->cluster;
    json["text"] = one.describe();
    return json;
}

/// The state of a sweep; from its folders alone if the scheduler cannot be queried.
ClusterView lookAt(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    try {
        return lookAtCluster(options.runs, nameOfSweep(options), namesOf(wanted));
    } catch (const Error& error) {
        tellPerson("what waits is not known: " + std::string(error.what()));
        return lookAtSubmissions(options.runs, nameOfSweep(options), namesOf(wanted));
    }
}

int printSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    const ClusterView sweep = lookAt(wanted, options);
    for (const SweepElement& one : sweep.elements) {
        if (options.json)
            print(jsonOf(one));
        else
            std::cout << one.run << "  " << onOneLine(one.describe()) << "\n";
    }
    tellPerson(summaryOf(sweep.elements));
    return 0;
}

int cancelSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    const ClusterView sweep = lookAtCluster(options.runs, nameOfSweep(options), namesOf(wanted));
    const std::vector<SlurmElement> own = sweep.ownActive();
    cancelElements(own);
    if (const std::size_t others = sweep.active.size() - own.size(); others > 0)
        tellPerson(countOf(others, "element") +
                   " not submitted by you from here; `scancel` takes back what is yours");
    tellPerson(countOf(own.size(), "element") + " cancelled; what they had trained is kept");
    return 0;
}

/// Number of steps that a resumed trainer would not repeat.
std::int64_t stepsSaved(const std::vector<RunFolder>& folders) {
    std::int64_t steps = 0;
    for (const RunFolder& folder : folders)
        if (const auto checkpoints = folder.checkpoints(); !checkpoints.empty())
            steps += checkpoints.back().step;
    return steps;
}

/// Requeues an array element that was asked to end, unless the scheduler itself is ending it: then it was
/// cancelled, or is already requeued.
void requeueThisElement(bool has_progressed) {
    const std::string array = environmentVariable("SLURM_ARRAY_JOB_ID"),
                      index = environmentVariable("SLURM_ARRAY_TASK_ID");
    if (array.empty() || index.empty()) return;
    const auto number = parseInteger(index);
    if (!number || !isRunning(array + "_" + index)) return;
    if (!has_progressed)
        throw Error(ErrorKind::other,
                    "not one step was saved before the time was over; give the elements a longer --time");
    SlurmElement element;
    element.job = array;
    element.index = *number;
    requeueElement(element);
    tellPerson("its time is over; it waits to go on");
}

}  // namespace

int sweepCommand(const SweepOptions& options) {
    const fs::path path = findSweep(options.sweep);
    std::vector<SweepRun> wanted = readSweep(path);
    if ((options.show_status || options.cancel) && !fs::exists(options.runs))
        tellPerson("there is no folder of runs " + options.runs.string() + " (--runs)");
    if (options.show_status) return printSweep(wanted, options);
    if (options.cancel) return cancelSweep(wanted, options);
    if (options.dry_run) return printScripts(wanted, options);
    if (options.use_slurm) return submitSweep(wanted, options);
    if (options.only >= 0) {
        if (options.only >= static_cast<std::int64_t>(wanted.size()))
            throw Error(ErrorKind::usage,
                        path.string() + " has runs 0 to " + std::to_string(wanted.size() - 1));
        wanted = {wanted[static_cast<std::size_t>(options.only)]};
    }
    return trainSweep(wanted, options);
}

int workCommand(const fs::path& file, std::optional<std::int64_t> element, const std::string& holds) {
    const fs::path path = fs::absolute(file).lexically_normal();
    const Submission submission = readSubmission(path);
    if (!holds.empty() && elementsFingerprint(submission) != holds)
        throw Error(ErrorKind::usage,
                    path.string() + " holds other runs than were submitted; somebody has changed it");
    const auto count = static_cast<std::int64_t>(submission.elements.size());
    if (!element) element = parseInteger(environmentVariable("SLURM_ARRAY_TASK_ID"));
    if (!element)
        throw Error(ErrorKind::usage,
                    "which element? Slurm says it in SLURM_ARRAY_TASK_ID; --element does, too");
    if (*element < 0 || *element >= count)
        throw Error(ErrorKind::usage, path.string() + " has elements 0 to " + std::to_string(count - 1));
    const fs::path runs = path.parent_path().parent_path();
    std::vector<RunFolder> folders;
    for (const std::string& name : submission.elements[static_cast<std::size_t>(*element)])
        folders.emplace_back(runs / name);
    const LeftOver left = leftOver(folders);
    const std::int64_t steps_before = stepsSaved(folders);
    const auto threads =
        static_cast<int>(parseInteger(environmentVariable("SLURM_CPUS_PER_TASK")).value_or(0));
    TrainingEnd end = trainAll(runs, left.names, 1, threads);
    end.failed += left.failed;
    if (!end.all_done) requeueThisElement(stepsSaved(folders) > steps_before);
    return end.exitCode();
}

}  // namespace roper
