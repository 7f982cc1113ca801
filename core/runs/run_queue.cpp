#include "core/runs/run_queue.h"

#include <algorithm>
#include <set>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/fields/toml_text.h"
#include "core/runs/queue_approval.h"
#include "core/runs/run_recorder.h"
#include "core/runs/user_record.h"

namespace roper {
namespace {

constexpr std::size_t kMaxTrainers = 256;

constexpr double kMaxLockWait_s = 10;  // other programs change a small file within milliseconds

FilePath workerLockPath(const std::filesystem::path& runs) {
    return FilePath::inside(runs, ".queue-worker.lock");
}

FilePath changeLockPath(const std::filesystem::path& runs) {
    return FilePath::inside(runs, ".queue-change.lock");
}

int readCount(const toml::node& node, const std::string& origin, const std::string& key, int low) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < low || *value > static_cast<std::int64_t>(kMaxTrainers))
        refuseToml(origin, node.source(),
                   key + " must be a whole number from " + std::to_string(low) + " to " +
                       std::to_string(kMaxTrainers));
    return static_cast<int>(*value);
}

std::string readDevice(const toml::node& node, const std::string& origin) {
    const std::string device = readTomlText(node, origin, "a device");
    if (!isDeviceName(device))
        refuseToml(origin, node.source(),
                   "a device must be auto, cpu, cuda or cuda:N, not \"" + device + "\"");
    return device;
}

RunQueue::Entry readEntry(const toml::node& node, const std::string& origin) {
    if (!node.is_table())
        refuseToml(origin, node.source(), "a run must be written as [[run]] with its name below");
    RunQueue::Entry entry;
    for (const auto& [key, value] : *node.as_table()) {
        if (key == "name") {
            entry.run = readTomlText(value, origin, "name");
            if (!isRunName(entry.run))
                refuseToml(origin, value.source(), "\"" + entry.run + "\" is not a valid name of a run");
        } else if (key == "held") {
            const auto on_hold = value.value_exact<bool>();
            if (!on_hold) refuseToml(origin, value.source(), "held must be true or false");
            entry.on_hold = *on_hold;
        } else {
            refuseToml(
                origin, key.source(),
                "unknown key \"" + std::string(key.str()) + "\" of a queued run; expected name or held");
        }
    }
    if (entry.run.empty()) refuseToml(origin, node.source(), "a queued run needs a name");
    return entry;
}

const RunQueue::Entry* find(const RunQueue& queue, const std::string& run) {
    const auto found = std::ranges::find(queue.entries, run, &RunQueue::Entry::run);
    return found == queue.entries.end() ? nullptr : &*found;
}

/// The runs that a change has added or released.
std::vector<std::string> newlyQueued(const RunQueue& before, const RunQueue& after) {
    std::vector<std::string> names;
    for (const RunQueue::Entry& entry : after.entries) {
        const RunQueue::Entry* const former = find(before, entry.run);
        if (former == nullptr || (former->on_hold && !entry.on_hold)) names.push_back(entry.run);
    }
    return names;
}

std::vector<std::string> removedRuns(const RunQueue& before, const RunQueue& after) {
    std::vector<std::string> names;
    for (const RunQueue::Entry& entry : before.entries)
        if (find(after, entry.run) == nullptr) names.push_back(entry.run);
    return names;
}

}  // namespace

bool RunQueue::hasWork() const {
    return std::ranges::any_of(entries, [](const Entry& entry) { return !entry.on_hold; });
}

FilePath queuePath(const std::filesystem::path& runs) {
    return FilePath::inside(runs, "queue.toml");
}

RunQueue parseQueue(std::string_view text, const std::string& origin) {
    const toml::table document = parseToml(text, origin);
    RunQueue queue;
    std::set<std::string> names;
    for (const auto& [key, node] : document) {
        if (key == "at_once") {
            queue.max_trainers = readCount(node, origin, "at_once", 1);
        } else if (key == "threads") {
            queue.threads = readCount(node, origin, "threads", 0);
        } else if (key == "devices") {
            if (!node.is_array())
                refuseToml(origin, node.source(), "devices must be a list such as [\"cuda:0\"]");
            for (const toml::node& device : *node.as_array())
                queue.devices.push_back(readDevice(device, origin));
            if (queue.devices.size() > kMaxTrainers)
                refuseToml(origin, node.source(), "more than " + std::to_string(kMaxTrainers) + " devices");
        } else if (key == "run") {
            if (!node.is_array())
                refuseToml(origin, node.source(), "a run must be written as [[run]] with its name below");
            for (const toml::node& run : *node.as_array()) {
                queue.entries.push_back(readEntry(run, origin));
                if (!names.insert(queue.entries.back().run).second)
                    refuseToml(origin, run.source(), queue.entries.back().run + " is in the queue twice");
            }
        } else {
            refuseToml(
                origin, key.source(),
                "unknown key \"" + std::string(key.str()) + "\"; expected at_once, threads, devices or run");
        }
    }
    return queue;
}

RunQueue readQueue(const std::filesystem::path& runs) {
    constexpr std::uint64_t kMaxBytes = 1U << 20U;  // tens of thousands of runs
    const FilePath path = queuePath(runs);
    if (!pathExists(path)) return {};
    return parseQueue(readFile(path, kMaxBytes), path.string());
}

std::string toToml(const RunQueue& queue) {
    const auto in_quotes = [](const std::string& text) { return '"' + text + '"'; };  // names need no escapes
    std::string text =
        "# Runs waiting to be trained, in this order. Edit freely: reorder, remove, hold.\n"
        "at_once = " +
        std::to_string(queue.max_trainers) +
        "    # trainers at the same time\n"
        "threads = " +
        std::to_string(queue.threads) +
        "    # CPU threads of each; 0 divides the cores evenly\n"
        "devices = [" +
        join(mapped(queue.devices, in_quotes), ", ") +
        "]    # one trainer each, such as \"cuda:0\"; empty: as in each run.toml\n";
    for (const RunQueue::Entry& entry : queue.entries) {
        text += "\n[[run]]\nname = " + in_quotes(entry.run) + "\n";
        if (entry.on_hold) text += "held = true\n";
    }
    return text;
}

void changeQueue(const std::filesystem::path& runs, const std::function<void(RunQueue&)>& change,
                 AutoApproval auto_approval) {
    makeFolder(runs);
    requireOwnedOrTrusted(runs);
    const FilePath lock_path = changeLockPath(runs);
    const FileLock lock(lock_path, waitAtMost(kMaxLockWait_s, lock_path.string()));
    const RunQueue before = readQueue(runs);
    RunQueue after = before;
    change(after);
    if (after == before) return;
    // The approval is recorded first, so that after a crash in between no second confirmation is needed.
    if (auto_approval == AutoApproval::queued_runs) approveRuns(runs, newlyQueued(before, after));
    writeFileAtomically(queuePath(runs), toToml(after));
    removeApprovals(runs, removedRuns(before, after));
}

std::vector<std::string> enqueueRuns(const std::filesystem::path& runs,
                                     const std::vector<NewRun>& requested) {
    std::vector<std::string> names;
    // One by one, so that after an interruption every created run is in the queue.
    for (const NewRun& run : requested)
        changeQueue(runs, [&](RunQueue& queue) {
            names.push_back(createRun(runs, {}, run.specification, run.labels).name());
            queue.entries.push_back({names.back(), false});
        });
    return names;
}

void resetToQueued(const RunFolder& folder) {
    requireOwnedOrTrusted(folder.path());
    Status status = folder.status();
    const RunState state = folder.effectiveState(status);
    if (state == RunState::running || state == RunState::paused)
        throw Error(ErrorKind::usage,
                    folder.name() + " already has a trainer: stop it before queueing the run");
    if (state == RunState::unfinished) return;
    status.state = RunState::queued;
    status.error.clear();
    status.exit_code = 0;
    writeStatus(folder.statusPath(), status);
}

FileLock lockQueue(const std::filesystem::path& runs) {
    makeFolder(runs);
    return FileLock(workerLockPath(runs));
}

bool isQueueBeingProcessed(const std::filesystem::path& runs) {
    return isLockHeld(workerLockPath(runs)).value_or(false);
}

}  // namespace roper
