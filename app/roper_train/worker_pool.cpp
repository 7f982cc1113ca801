#include "app/roper_train/worker_pool.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "app/roper_train/progress.h"
#include "core/base/available.h"
#include "core/base/child_process.h"
#include "core/base/crash_report.h"
#include "core/base/error.h"
#include "core/base/file_path.h"
#include "core/base/stop_signals.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr int kMaxAttempts = 3;
constexpr auto kPollInterval = std::chrono::milliseconds(100);

bool isDone(RunState state) {
    return state == RunState::finished || state == RunState::failed || state == RunState::stopped;
}

/// Starts this program again as a trainer. Its messages go to a file of the run, as for trainers started by
/// roper-lab.
pid_t startTrainer(const std::vector<std::string>& arguments, const FilePath& stderr_path) {
    const Descriptor dev_null = openFile("/dev/null", O_RDWR);
    const Descriptor output = openFile(stderr_path, O_WRONLY | O_CREAT | O_APPEND);
    return startProcess("/proc/self/exe", arguments, {dev_null.number(), dev_null.number(), output.number()});
}

/// Whether the device in a status.json is one of queue.toml: "cuda:1, NVIDIA H200" is "cuda:1", but
/// "cuda:10, …" is not. "cuda" means "cuda:0".
bool isSameDevice(const std::string& status, const std::string& device) {
    const std::string name = status.substr(0, status.find(','));
    return name == device || (device == "cuda" && name == "cuda:0");
}

}  // namespace

bool WorkerPool::run() {
    handleStopSignals();
    while (!stopIsRequested()) {
        reap();
        RunQueue queue;
        try {
            queue = callbacks_.read();
            if (!processOnce(queue)) return true;
            problem_.clear();
        } catch (const Error& error) {
            // The queue's file is being edited or invalid, or the disk is full. Running trainers continue,
            // and reading is retried.
            if (problem_ != error.what())
                callbacks_.report((problem_ = error.what()) + " (retried until it succeeds)");
            std::this_thread::sleep_for(10 * kPollInterval);
            continue;
        }
        // Each poll reads the status of every entry, so long queues are polled less often.
        std::this_thread::sleep_for(kPollInterval + std::chrono::milliseconds(queue.entries.size()));
    }
    for (const auto& [pid, slot] : trainers_)
        ::kill(pid, SIGTERM);
    while (!trainers_.empty()) {
        reap();
        std::this_thread::sleep_for(kPollInterval);
    }
    return false;
}

bool WorkerPool::processOnce(const RunQueue& queue) {
    auto busy = static_cast<int>(trainers_.size());
    devices_of_others_.clear();
    unreadable_.clear();
    std::vector<std::string> waiting;
    for (const RunQueue::Entry& entry : queue.entries) {
        if (stopIsRequested()) return true;
        if (pollEntry(entry, busy) && !entry.on_hold) waiting.push_back(entry.run);
    }
    holdUnreadable();
    if (waiting.empty() && busy == 0) return false;
    for (std::size_t i = 0; i < waiting.size() && busy < queue.capacity(); ++i, ++busy)
        start(waiting[i], queue);
    return true;
}

void WorkerPool::reap() {
    for (auto at = trainers_.begin(); at != trainers_.end();) {
        int result = 0;
        if (::waitpid(at->first, &result, WNOHANG) == 0) {
            ++at;
            continue;
        }
        if (WIFSIGNALED(result))
            callbacks_.report(at->second.run + ": its trainer was terminated by " +
                              signalName(WTERMSIG(result)));
        at = trainers_.erase(at);
    }
}

bool WorkerPool::pollEntry(const RunQueue::Entry& entry, int& busy) {
    const auto trains_run = [&](const auto& trainer) { return trainer.second.run == entry.run; };
    if (std::ranges::any_of(trainers_, trains_run)) return false;
    const RunFolder folder(callbacks_.runs / entry.run);
    Status status;
    try {
        status = folder.status();
    } catch (const Error& error) {
        if (!entry.on_hold) unreadable_.emplace_back(entry.run, error.what());
        return false;
    }
    const RunState state = folder.effectiveState(status);
    if (isDone(state)) {
        reportEnd(folder, status);
        callbacks_.remove(entry.run);
        return false;
    }
    if (state != RunState::running && state != RunState::paused) return true;
    ++busy;  // trained by another program
    devices_of_others_.push_back(status.device);
    return false;
}

void WorkerPool::holdUnreadable() {
    constexpr std::size_t kMaxNamed = 5;
    const auto unreadable = std::exchange(unreadable_, {});
    if (unreadable.empty()) return;
    const std::vector<std::string> runs = mapped(unreadable, [](const auto& run) { return run.first; });
    callbacks_.hold(runs);
    for (std::size_t i = 0; i < std::min(unreadable.size(), kMaxNamed); ++i)
        callbacks_.report(unreadable[i].first + " is held: " + unreadable[i].second);
    if (runs.size() > kMaxNamed)
        callbacks_.report(std::to_string(runs.size() - kMaxNamed) +
                          " more runs that cannot be read are held");
}

/// The attempts at training a run, including the one to be made now.
WorkerPool::Attempts WorkerPool::nextAttempt(const RunFolder& folder) const {
    const auto found = attempts_.find(folder.name());
    Attempts attempts = found == attempts_.end() ? Attempts{} : found->second;
    const auto checkpoints = folder.checkpointsIfReadable().value_or(std::vector<StepFile>());
    const std::int64_t step = checkpoints.empty() ? 0 : checkpoints.back().step;
    attempts.without_progress = step > attempts.step ? 1 : attempts.without_progress + 1;
    attempts.step = step;
    return attempts;
}

void WorkerPool::start(const std::string& run, const RunQueue& queue) {
    const RunFolder folder(callbacks_.runs / run);
    const auto fingerprint =
        callbacks_.approvedFingerprint ? callbacks_.approvedFingerprint(run) : std::optional<std::string>("");
    if (!fingerprint) {
        callbacks_.report(
            run +
            " is held: its run.toml has changed since you queued it; release it if the change is intended");
        callbacks_.hold({run});
        return;
    }
    // A trainer that is killed is restarted, unless it dies repeatedly without progress.
    const Attempts attempts = nextAttempt(folder);
    if (attempts.without_progress > kMaxAttempts) {
        callbacks_.report(run + " is held: its trainer ended " + std::to_string(kMaxAttempts) +
                          " times without progress; see its log.txt");
        attempts_.erase(run);  // releasing the run allows new attempts
        callbacks_.hold({run});
        return;
    }
    const auto cores = usableCores();
    const int threads = queue.threads > 0 ? queue.threads : std::max(1, cores / queue.capacity());
    std::vector<std::string> arguments = {"roper-train", "resume",
                                          std::filesystem::absolute(folder.path()).string(), "--background"};
    if (queue.capacity() > 1 || queue.threads > 0)
        arguments.insert(arguments.end(), {"--threads", std::to_string(threads)});
    const std::string device = freeDevice(queue);
    if (!device.empty()) arguments.insert(arguments.end(), {"--device", device});
    if (!fingerprint->empty()) arguments.insert(arguments.end(), {"--expected-sha256", *fingerprint});
    const Status status = folder.status();
    const auto raised = folder.stepsToContinueTo(status);
    callbacks_.report(!raised ? run + " starts"
                              : run + " resumes from step " + std::to_string(status.step) +
                                    ": its run.toml now asks for " + std::to_string(*raised) + " steps");
    trainers_[startTrainer(arguments, folder.trainerStderrPath())] = {run, device};
    attempts_[run] = attempts;
}

/// A device listed n times is shared by up to n trainers.
std::string WorkerPool::freeDevice(const RunQueue& queue) const {
    for (const std::string& device : queue.devices) {
        const auto capacity = std::ranges::count(queue.devices, device);
        const auto ours = std::ranges::count_if(
            trainers_, [&](const auto& trainer) { return trainer.second.device == device; });
        const auto others = std::ranges::count_if(
            devices_of_others_, [&](const std::string& text) { return isSameDevice(text, device); });
        if (ours + others < capacity) return device;
    }
    return {};
}

void WorkerPool::reportEnd(const RunFolder& folder, const Status& status) {
    std::string text = folder.name() + ": " + stateName(status.state);
    if (!status.error.empty()) text += ": " + status.error;
    try {
        const auto evaluations = folder.evaluations();
        if (status.error.empty() && !evaluations.empty()) text += ", " + evaluationText(evaluations.back());
    } catch (const Error&) {
        // Unreadable rows are reported when the run is viewed.
    }
    callbacks_.report(text);
}

}  // namespace roper
