#include <unistd.h>

#include <iostream>
#include <set>

#include "app/roper_train/commands.h"
#include "app/roper_train/experiment_commands.h"
#include "app/roper_train/worker_pool.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/experiment.h"
#include "core/runs/queue_approval.h"
#include "core/runs/run_queue.h"
#include "core/runs/user_record.h"

// Commands that queue and train runs: enqueue, queue.

namespace roper {

namespace fs = std::filesystem;

int enqueueCommand(const EnqueueOptions& options) {
    Specification base = loadSpecification(options.what, options.settings);
    const auto seeds = parseIntegers(options.seeds);
    if (!seeds)
        throw Error(ErrorKind::usage,
                    "give the seeds as \"0-4\", \"3\" or \"1,5,9\", not \"" + options.seeds + "\"");
    std::vector<std::string> methods = {base.model.position};
    if (options.twins) methods = twinMethods();
    std::vector<Specification> requested;
    for (const std::int64_t seed : *seeds) {
        for (const std::string& method : methods) {
            Specification specification = options.twins ? withPosition(base, method) : base;
            specification.training.data_seed = specification.training.model_seed = seed;
            requireValid(specification, options.what);
            requested.push_back(specification);
        }
    }
    for (const std::string& name :
         enqueueRuns(options.runs, groupIntoExperiments(requested, {}, std::time(nullptr))))
        std::cout << name << "\n";
    reportToUser("`roper-train queue --runs " + options.runs.string() +
                 "` trains them; so does RoPER Lab while it shows this folder");
    return 0;
}

/// Asks on the terminal whether to train runs that this user did not queue; without a terminal they are
/// skipped.
void askAboutUnapproved(const fs::path& runs) {
    std::vector<WaitingRun> waiting;
    try {
        waiting = unapprovedRuns(runs);
    } catch (const Error&) {
        return;  // the worker pool reports it
    }
    if (waiting.empty()) return;
    const std::string what = fs::absolute(runs).string() + ": " + describeUnapproved(waiting);
    if (::isatty(STDIN_FILENO) == 0) {
        const std::string how = "; run `roper-train trust " + runs.string() + "` first to approve them";
        if (readApprovedQueue(runs).entries.empty()) throw Error(ErrorKind::usage, what + how);
        return reportToUser(what + how + " as well");
    }
    std::cerr << what << ". Train " << (waiting.size() == 1 ? "it" : "them") << "? [y/N] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    if (answer == "y" || answer == "Y" || answer == "yes") return approveFingerprints(runs, waiting);
    if (readApprovedQueue(runs).entries.empty()) throw Error(ErrorKind::usage, "no run was started");
}

int queueCommand(const fs::path& runs, bool quietly) {
    if (!fs::is_directory(runs)) throw Error(ErrorKind::usage, "folder not found: " + runs.string());
    requireOwnedOrTrusted(runs);
    askAboutUnapproved(runs);
    const FileLock lock = lockQueue(runs);
    if (!lock.held()) {
        if (!quietly)
            reportToUser("another program is already training the queued runs of " + runs.string() + " (" +
                         lock.holder() + ")");
        return 0;
    }
    const auto remove = [&](const std::string& run) {
        changeQueue(runs, [&](RunQueue& queue) {
            std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
        });
    };
    const auto hold = [&](const std::vector<std::string>& names) {
        const std::set<std::string> on_hold(names.begin(), names.end());
        changeQueue(runs, [&](RunQueue& queue) {
            for (RunQueue::Entry& entry : queue.entries)
                if (on_hold.count(entry.run) > 0) entry.on_hold = true;
        });
    };
    const auto tell = [quietly](const std::string& text) {
        if (!quietly) reportToUser(text);
    };
    const auto read = [&] { return readApprovedQueue(runs); };
    const auto fingerprint = [&](const std::string& run) { return approvedFingerprint(runs, run); };
    const bool is_done = WorkerPool({runs, read, remove, hold, tell, fingerprint}).run();
    return is_done ? 0 : static_cast<int>(ErrorKind::preempted);  // a signal stopped it
}

}  // namespace roper
