#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/experiment_commands.h"
#include "app/roper_train/json_line.h"
#include "app/roper_train/worker_pool.h"
#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cluster/sweep_elements.h"
#include "core/compare/grouping.h"
#include "core/runs/run_queue.h"
#include "core/runs/run_recorder.h"
#include "core/runs/sweep.h"
#include "core/specification/presets.h"

// Sweeps: trained here, or handed to Slurm.

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// The run of a sweep, made if it is not there.
RunFolder findOrMake(const fs::path& runs, const SweepRun& wanted, const std::string& sweep) {
    const RunFolder folder(runs / wanted.name);
    if (!fs::exists(folder.path()))
        return createRun(runs, wanted.name, wanted.specification, {"Sweep " + sweep, {}, {}});
    const Specification there = folder.specification(), expected = withAbsoluteText(wanted.specification);
    const auto seeds = [](const Specification& s) {
        return std::pair(s.training.data_seed, s.training.model_seed);
    };
    if (groupKey(there) != groupKey(expected) || seeds(there) != seeds(expected))
        throw Error(ErrorKind::usage, folder.path().string() +
                                          " is another experiment than the sweep asks for; give the sweep "
                                          "another file name, or the runs another folder");
    return folder;
}

std::string nameOfSweep(const SweepOptions& options) {
    return findSweep(options.sweep).stem().string();
}

/// Whether a run failed; one that cannot be read counts as failed.
bool hasFailed(const RunFolder& folder) {
    try {
        return folder.status().state == RunState::failed;
    } catch (const Error&) {
        return true;
    }
}

/// What is to be trained of some runs, and what has become of the others.
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

/// How training came to its end.
struct TrainingEnd {
    bool all_done = false;  ///< otherwise it was told to end
    std::size_t failed = 0;

    int exitCode() const {
        if (failed > 0) return static_cast<int>(ErrorKind::other);
        return all_done ? 0 : static_cast<int>(ErrorKind::preempted);
    }
};

TrainingEnd train(const fs::path& runs, const std::vector<std::string>& names, int at_once, int threads) {
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

/// Trains what is missing of a sweep. @returns the exit code
int trainSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    std::vector<RunFolder> folders;
    for (const SweepRun& run : wanted)
        folders.push_back(findOrMake(options.runs, run, nameOfSweep(options)));
    const LeftOver left = leftOver(folders);
    tellPerson(countOf(wanted.size(), "run") + ", " + std::to_string(left.finished) + " finished before");
    TrainingEnd end = train(options.runs, left.names, options.at_once, 0);
    end.failed += left.failed;
    if (!end.all_done) tellPerson("interrupted; the same command continues where it was");
    return end.exitCode();
}

/// A sweep as the scheduler sees it.
struct SweepAtCluster {
    std::vector<Submission> submissions;
    std::vector<SlurmElement> at_work;  ///< elements that wait or run
    std::vector<SweepElement> elements;
};

SweepAtCluster lookAtCluster(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    SweepAtCluster sweep;
    sweep.submissions = submissionsOf(options.runs, nameOfSweep(options));
    std::vector<std::string> jobs, names;
    for (const Submission& submission : sweep.submissions)
        if (!submission.ended) jobs.push_back(submission.name);
    sweep.at_work = elementsOfJobs(jobs);
    for (const SweepRun& run : wanted)
        names.push_back(run.name);
    sweep.elements = sweepElements(options.runs, names, sweep.submissions, sweep.at_work);
    return sweep;
}

/// What the scheduler no longer has anything of need not be asked for again.
void closeEnded(const SweepAtCluster& sweep, const fs::path& runs) {
    for (Submission submission : sweep.submissions) {
        const bool is_there =
            std::any_of(sweep.at_work.begin(), sweep.at_work.end(),
                        [&](const SlurmElement& element) { return element.name == submission.name; });
        if (submission.ended || is_there) continue;
        submission.ended = true;
        writeSubmission(runs, submission);
    }
}

/// Cuts runs into arrays that the cluster takes, of elements of so many runs.
std::vector<Submission> planned(const std::vector<std::string>& names, const SweepOptions& options) {
    const auto most = static_cast<std::size_t>(mostElements());
    const auto pack = static_cast<std::size_t>(options.slurm.pack);
    std::vector<Submission> arrays;
    for (std::size_t first = 0; first < names.size(); first += pack) {
        if (arrays.empty() || arrays.back().elements.size() == most) {
            const std::string sweep = nameOfSweep(options);
            arrays.push_back({newJobName(sweep), sweep, {}, false});
        }
        const std::size_t end = std::min(first + pack, names.size());
        arrays.back().elements.emplace_back(names.begin() + static_cast<std::ptrdiff_t>(first),
                                            names.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return arrays;
}

std::string scriptOf(const Submission& submission, const SweepOptions& options) {
    return slurmScript(submission.name, static_cast<std::int64_t>(submission.elements.size()),
                       (submissionsFolder(options.runs) / (submission.name + ".json")).path(), options.slurm);
}

/// Hands one array over. @param after  the array before it, which must have ended if a number of elements at
/// the same time was asked for: of two arrays each would have as many. @returns the number of the job
std::string submit(const Submission& submission, const SweepOptions& options, const std::string& after) {
    const std::string text = scriptOf(submission, options);
    writeSubmission(options.runs, submission);
    const FilePath script = submissionsFolder(options.runs) / (submission.name + ".sh");
    writeFileAtomically(script, text);
    std::vector<std::string> dependency;
    if (!after.empty() && options.slurm.at_once > 0) dependency.push_back("--dependency=afterany:" + after);
    try {
        return submitScript(script.path(), dependency);
    } catch (const Error&) {
        removeFile(script);
        removeFile(submissionsFolder(options.runs) / (submission.name + ".json"));
        throw;
    }
}

/// Submits what is neither finished nor waiting. With `dry_run` the scripts are printed instead.
int submitSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    std::optional<FileLock> nobody_else_submits;
    if (!options.dry_run) {
        for (const SweepRun& run : wanted)
            findOrMake(options.runs, run, nameOfSweep(options));
        const FilePath folder = submissionsFolder(options.runs);
        makeFolder(folder);
        constexpr double kLongestSubmission_s = 120;
        nobody_else_submits.emplace(folder / "lock",
                                    waitAtMost(kLongestSubmission_s, (folder / "lock").string()));
    }
    const SweepAtCluster sweep = lookAtCluster(wanted, options);
    std::vector<std::string> names;
    std::size_t failed = 0;
    for (const SweepElement& one : sweep.elements) {
        if (one.isFinished() || one.isTaken()) continue;
        if (one.state == RunState::failed) {
            ++failed;
            tellPerson(one.run + " failed and is not tried again: " + one.problem);
            continue;
        }
        if (one.state == RunState::stopped && !options.dry_run)
            allowToGoOn(RunFolder(options.runs / one.run));
        names.push_back(one.run);
    }
    const std::vector<Submission> arrays = planned(names, options);
    if (options.dry_run) {
        for (const Submission& array : arrays)
            std::cout << scriptOf(array, options);
    } else {
        closeEnded(sweep, options.runs);
        std::string job;
        for (const Submission& array : arrays) {
            job = submit(array, options, job);
            std::cout << job << "\n" << std::flush;
            tellPerson("job " + job + " (" + array.name + "): " + countOf(array.elements.size(), "element"));
        }
    }
    if (names.size() < sweep.elements.size()) tellPerson(summaryOf(sweep.elements));
    tellPerson(names.empty() ? "nothing is missing that is not on its way"
                             : countOf(names.size(), "run") + " in " + countOf(arrays.size(), "array") +
                                   (options.dry_run ? " would be submitted" : " submitted"));
    return failed > 0 ? static_cast<int>(ErrorKind::other) : 0;
}

Json jsonOf(const SweepElement& one) {
    Json json = {{"run", one.run},
                 {"state", one.state ? Json(stateName(*one.state)) : Json()},
                 {"step", one.status.step},
                 {"steps", one.status.steps}};
    if (one.element)
        json.update({{"element", one.element->id()},
                     {"slurm_state", one.element->state},
                     {"reason", one.element->reason},
                     {"node", one.element->node}});
    json["text"] = one.describe();
    return json;
}

int printSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    const SweepAtCluster sweep = lookAtCluster(wanted, options);
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
    const SweepAtCluster sweep = lookAtCluster(wanted, options);
    std::vector<std::string> ids;
    for (const SlurmElement& element : sweep.at_work)
        ids.push_back(element.id());
    cancelElements(ids);
    tellPerson(countOf(ids.size(), "element") + " cancelled; what they had trained is kept");
    return 0;
}

std::optional<std::int64_t> numberInEnvironment(const char* name) {
    const char* const text = std::getenv(name);
    const auto number = text != nullptr ? parseInteger(text) : std::nullopt;
    return number ? std::optional<std::int64_t>(*number) : std::nullopt;
}

std::int64_t stepsDone(const std::vector<RunFolder>& folders) {
    std::int64_t steps = 0;
    for (const RunFolder& folder : folders)
        steps += folder.status().step;
    return steps;
}

/// An element that was told to end goes back among those that wait, unless the scheduler is ending it itself:
/// then it was cancelled, or is put back already.
void goBackToTheQueue(bool has_progressed) {
    const char* const array = std::getenv("SLURM_ARRAY_JOB_ID");
    const char* const index = std::getenv("SLURM_ARRAY_TASK_ID");
    if (array == nullptr || index == nullptr) return;
    const std::string id = std::string(array) + "_" + index;
    if (!isAtWork(id)) return;
    if (!has_progressed)
        throw Error(ErrorKind::other,
                    "not one step was trained before the time was over; give the elements a longer --time");
    requeueElement(id);
    tellPerson("its time is over; it waits to go on");
}

}  // namespace

int sweepCommand(const SweepOptions& options) {
    const fs::path path = findSweep(options.sweep);
    std::vector<SweepRun> wanted = readSweep(path);
    if (options.show_status) return printSweep(wanted, options);
    if (options.cancel) return cancelSweep(wanted, options);
    if (options.use_slurm) return submitSweep(wanted, options);
    if (options.only >= 0) {
        if (options.only >= static_cast<std::int64_t>(wanted.size()))
            throw Error(ErrorKind::usage,
                        path.string() + " has runs 0 to " + std::to_string(wanted.size() - 1));
        wanted = {wanted[static_cast<std::size_t>(options.only)]};
    }
    return trainSweep(wanted, options);
}

int workCommand(const fs::path& file, std::optional<std::int64_t> element) {
    const fs::path path = fs::absolute(file).lexically_normal();
    const Submission submission = readSubmission(path);
    const auto count = static_cast<std::int64_t>(submission.elements.size());
    if (!element) element = numberInEnvironment("SLURM_ARRAY_TASK_ID");
    if (!element)
        throw Error(ErrorKind::usage,
                    "which element? Slurm says it in SLURM_ARRAY_TASK_ID; --element does, too");
    if (*element < 0 || *element >= count)
        throw Error(ErrorKind::usage, path.string() + " has elements 0 to " + std::to_string(count - 1));
    const fs::path runs = path.parent_path().parent_path();
    std::vector<RunFolder> folders;
    for (const std::string& name : submission.elements[static_cast<std::size_t>(*element)])
        folders.push_back(findRun((runs / name).string(), runs));
    const LeftOver left = leftOver(folders);
    const std::int64_t steps_before = stepsDone(folders);
    const auto threads = static_cast<int>(numberInEnvironment("SLURM_CPUS_PER_TASK").value_or(0));
    TrainingEnd end = train(runs, left.names, 1, threads);
    end.failed += left.failed;
    if (!end.all_done) goBackToTheQueue(stepsDone(folders) > steps_before);
    return end.exitCode();
}

}  // namespace roper
