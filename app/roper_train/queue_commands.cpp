#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>

#include "app/roper_train/commands.h"
#include "app/roper_train/experiment_commands.h"
#include "app/roper_train/worker_pool.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/experiment.h"
#include "core/compare/grouping.h"
#include "core/runs/run_queue.h"
#include "core/runs/run_recorder.h"
#include "core/runs/sweep.h"
#include "core/runs/trusted_folders.h"
#include "core/specification/presets.h"

// Commands that put runs into a row and train them: enqueue, queue, sweep.

namespace roper {

namespace fs = std::filesystem;

namespace {

int exitCodeOfEnd(bool all_done) {
    return all_done ? 0 : static_cast<int>(ErrorKind::preempted);
}

/// The run of a sweep, made if it is not there.
RunFolder findOrMake(const fs::path& runs, const SweepRun& wanted, const std::string& experiment) {
    const RunFolder folder(runs / wanted.name);
    if (!fs::exists(folder.path()))
        return createRun(runs, wanted.name, wanted.specification, {experiment, {}, {}});
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

/// In single quotes for a shell, whatever it holds.
std::string shellQuoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string slurmScript(const fs::path& sweep, const fs::path& runs, std::size_t count) {
    const std::string name = sweep.stem().string();
    return "#!/bin/bash\n#SBATCH --job-name=" + name + "\n#SBATCH --array=0-" + std::to_string(count - 1) +
           "\n#SBATCH --requeue\n#SBATCH --signal=TERM@120\n# One run an element; an element that is "
           "preempted "
           "resumes where it was.\nexec roper-train sweep " +
           shellQuoted(fs::absolute(sweep).string()) + " --runs " + shellQuoted(fs::absolute(runs).string()) +
           " --only \"$SLURM_ARRAY_TASK_ID\"\n";
}

/// Whether a run of a sweep failed; one that cannot be read counts as failed.
bool hasFailed(const RunFolder& folder) {
    try {
        return folder.status().state == RunState::failed;
    } catch (const Error&) {
        return true;
    }
}

/// Trains what is missing of a sweep. @returns the exit code
int trainSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    RunQueue queue;
    queue.at_once = options.at_once;
    const std::string experiment = "Sweep " + findSweep(options.sweep).stem().string();
    std::size_t done = 0, failed = 0;
    for (const SweepRun& run : wanted) {
        const RunFolder folder = findOrMake(options.runs, run, experiment);
        const Status status = folder.status();
        const RunState state = folder.trueState(status);
        if (state == RunState::finished) {
            ++done;
        } else if (state == RunState::failed) {
            ++failed;
            tellPerson(run.name + " failed before and is not tried again: " + status.error);
        } else {
            if (state == RunState::stopped) allowToGoOn(folder);
            queue.entries.push_back({run.name, false});
        }
    }
    tellPerson(countOf(wanted.size(), "run") + ", " + std::to_string(done) + " finished before");
    const auto drop = [&](const std::string& run) {
        std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
    };
    const auto remove = [&](const std::string& run) {
        drop(run);
        failed += hasFailed(RunFolder(options.runs / run)) ? 1 : 0;
    };
    const auto give_up = [&](const std::vector<std::string>& names) {
        std::for_each(names.begin(), names.end(), drop);
        failed += names.size();
    };
    const bool all_done =
        WorkerPool({options.runs, [&] { return queue; }, remove, give_up, tellPerson}).run();
    if (!all_done) tellPerson("interrupted; the same command continues where it was");
    return failed > 0 ? static_cast<int>(ErrorKind::other) : exitCodeOfEnd(all_done);
}

}  // namespace

std::vector<std::int64_t> parseSeeds(const std::string& text) {
    const auto seeds = parseIntegers(text);
    if (!seeds) throw Error(ErrorKind::usage, "seeds are written 0-4, 3 or 1,5,9, not \"" + text + "\"");
    return *seeds;
}

int enqueueCommand(const EnqueueOptions& options) {
    Specification base = namedSpecification(options.what, options.settings);
    std::vector<std::string> positions = {base.model.position};
    if (options.twins) positions = twinMethods();
    std::vector<Specification> wanted;
    for (const std::int64_t seed : parseSeeds(options.seeds)) {
        for (const std::string& position : positions) {
            Specification specification = options.twins ? withPosition(base, position) : base;
            specification.training.data_seed = specification.training.model_seed = seed;
            requireValid(specification, options.what);
            wanted.push_back(specification);
        }
    }
    for (const std::string& name : enqueueRuns(options.runs, asExperiments(wanted, {}, std::time(nullptr))))
        std::cout << name << "\n";
    tellPerson("`roper-train queue --runs " + options.runs.string() +
               "` trains them, and so does an open window");
    return 0;
}

/// Asks on the terminal whether a queue that this user did not make is to be worked through; without a
/// terminal nobody can answer.
void requireWord(const fs::path& runs) {
    if (mayStartQueue(runs)) return;
    const std::string what = "the queue of " + fs::absolute(runs).string() + ", " +
                             countOf(readQueue(runs).entries.size(), "run") + ", was not made by you here";
    if (::isatty(STDIN_FILENO) == 0)
        throw Error(ErrorKind::usage, what + "; say `roper-train trust " + runs.string() +
                                          "` first if it is to be worked through");
    std::cerr << what << ". Train it? [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    if (answer != "y" && answer != "Y" && answer != "yes")
        throw Error(ErrorKind::usage, "nothing was started");
    trustFolder(runs);
}

int queueCommand(const fs::path& runs, bool quietly) {
    if (!fs::is_directory(runs)) throw Error(ErrorKind::usage, "there is no folder " + runs.string());
    requireOwn(runs);
    requireWord(runs);
    const QueueLock lock(runs);
    if (!lock.isMine()) {
        if (!quietly)
            tellPerson("another program works through the queue of " + runs.string() + " already (" +
                       lock.holder() + ")");
        return 0;
    }
    const auto without = [&](const std::string& run) {
        changeQueue(runs, [&](RunQueue& queue) {
            std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
        });
    };
    const auto hold = [&](const std::vector<std::string>& names) {
        const std::set<std::string> held(names.begin(), names.end());
        changeQueue(runs, [&](RunQueue& queue) {
            for (RunQueue::Entry& entry : queue.entries)
                if (held.count(entry.run) > 0) entry.held = true;
        });
    };
    const auto tell = [quietly](const std::string& text) {
        if (!quietly) tellPerson(text);
    };
    return exitCodeOfEnd(WorkerPool({runs, [&] { return readQueue(runs); }, without, hold, tell}).run());
}

int sweepCommand(const SweepOptions& options) {
    const fs::path path = findSweep(options.sweep);
    std::vector<SweepRun> wanted = readSweep(path);
    if (options.slurm) {
        std::cout << slurmScript(path, options.runs, wanted.size());
        return 0;
    }
    if (options.only >= 0) {
        if (options.only >= static_cast<std::int64_t>(wanted.size()))
            throw Error(ErrorKind::usage,
                        path.string() + " has runs 0 to " + std::to_string(wanted.size() - 1));
        wanted = {wanted[static_cast<std::size_t>(options.only)]};
    }
    return trainSweep(wanted, options);
}

}  // namespace roper
