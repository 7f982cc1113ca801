#include "core/training/session.h"

#include <chrono>
#include <exception>
#include <string>
#include <system_error>

#include "core/base/available.h"
#include "core/base/cryptography.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/stop_signals.h"
#include "core/base/text.h"
#include "core/base/this_process.h"
#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/operators/gpu.h"
#include "core/operators/threads.h"
#include "core/operators/translate_errors.h"
#include "core/specification/cost.h"
#include "core/training/data_parallel.h"
#include "core/training/followers.h"
#include "core/training/srun_tasks.h"
#include "core/training/trainer.h"
#include "core/training/training_clock.h"

namespace roper {
namespace {

/// The previous status of a run; a default one if it cannot be read.
Status previousStatus(const RunFolder& folder) {
    try {
        return folder.status();
    } catch (const Error&) {
        return {};
    }
}

/// @param before  the status found at the start of the session
void writeFailure(RunRecorder& recorder, const Error& error, const Status& before) {
    try {
        Status status = previousStatus(recorder.folder());
        const bool has_begun = status.step != before.step || status.steps != before.steps;
        if (before.state == RunState::finished && !has_begun) {
            // A run that could not continue to more steps keeps its results, and stays in comparisons.
            recorder.log(std::string("cannot continue: ") + error.what());
            recorder.requireLease();
            return writeStatus(recorder.folder().statusPath(), before);
        }
        // A run that failed because another of its processes ended can be resumed.
        status.state = error.kind() == ErrorKind::preempted ? RunState::preempted : RunState::failed;
        status.control.clear();
        status.error = error.what();
        status.exit_code = error.exitCode();
        recorder.log(stateName(status.state) + ": " + error.what());
        recorder.setStatus(status);
    } catch (const Error&) {
        // On a full disk not even this can be written; the error itself is still reported.
    }
}

std::string inGigabytes(double bytes) {
    return formatRounded(bytes / 1e9, 3) + " GB";
}

/// Total size of a folder's files; unreadable ones are ignored.
double bytesIn(const std::filesystem::path& folder) {
    std::error_code unreadable;
    double sum = 0;
    std::filesystem::recursive_directory_iterator at(
        folder, std::filesystem::directory_options::skip_permission_denied, unreadable);
    for (; at != std::filesystem::recursive_directory_iterator(); at.increment(unreadable)) {
        if (unreadable) break;
        if (at->symlink_status(unreadable).type() == std::filesystem::file_type::regular)
            sum += static_cast<double>(at->file_size(unreadable));
    }
    return sum;
}

/// Calls `work`; if memory runs out, the memory needs of this specification are added to the error.
template <class Work>
auto withMemoryEstimate(const Specification& specification, Work work) {
    const std::optional<double> available = freeMemoryFor(specification);
    try {
        return translateErrors(work);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::memory || error.what() == std::string_view(kNoThreads)) throw;
        const std::string estimate = inGigabytes(costOf(specification).memory_bytes);
        throw Error(ErrorKind::memory,
                    std::string(error.what()) + " The run is estimated to take " + estimate +
                        (available ? "; " + inGigabytes(*available) + " were free when it started." : "."));
    }
}

/// From now on the run has a process; if it dies while loading, the run is recognized as interrupted.
void writeStarting(RunRecorder& recorder) {
    Status status = previousStatus(recorder.folder());
    status.state = RunState::running;
    status.error.clear();
    status.exit_code = 0;
    status.control.clear();
    recorder.setStatus(status);
}

/// Keeps a run responsive while its text is prepared, which may take minutes: it reports progress, sends
/// heartbeats, and can be stopped.
class TextPreparation {
  public:
    TextPreparation(RunRecorder& recorder, RunControl& control, TrainingObserver& observer)
        : recorder_(recorder), control_(control), observer_(observer) {}

    PreparationCallbacks callbacks() {
        return {[this](const std::string& line) { note(recorder_, observer_, line); },
                [this] { return shouldContinue(); }};
    }

    /// Ends a run that was stopped before its first step.
    RunState end() {
        Status status = previousStatus(recorder_.folder());
        status.state = request_ == RunRequest::preempt ? RunState::preempted : RunState::stopped;
        if (status.state == RunState::preempted) status.exit_code = static_cast<int>(ErrorKind::preempted);
        status.control.clear();
        recorder_.log(stateName(status.state) + " while the text was prepared");
        recorder_.setStatus(status);
        return status.state;
    }

  private:
    using Clock = std::chrono::steady_clock;

    bool shouldContinue() {
        constexpr auto kHeartbeat = std::chrono::seconds(1);
        if (Clock::now() - last_beat_ > kHeartbeat) {
            Status status = previousStatus(recorder_.folder());
            status.control = control_.socketPath();
            recorder_.setStatus(status, Durability::process_death);
            last_beat_ = Clock::now();
        }
        request_ = control_.poll({[] { return std::string("preparing the text"); }});
        return request_ == RunRequest::none ||
               request_ == RunRequest::pause;  // there is nothing to pause yet
    }

    RunRecorder& recorder_;
    RunControl& control_;
    TrainingObserver& observer_;
    RunRequest request_ = RunRequest::none;
    Clock::time_point last_beat_;
};

}  // namespace

void note(RunRecorder& recorder, TrainingObserver& observer, const std::string& text) {
    if (text.empty()) return;
    recorder.log(text);
    observer.onNote(text);
}

namespace {

/// Waits for the run's lease; meanwhile a stop signal ends the process, since nothing needs to be saved.
std::unique_ptr<RunRecorder> openRecorder(const RunFolder& folder) {
    const ExitOnStopSignal nothing_to_save;
    return std::make_unique<RunRecorder>(folder);
}

/// @param fingerprint  SHA-256 that run.toml must have, or empty: it may have been replaced since the user
/// approved it
Specification readApprovedSpecification(const RunFolder& folder, const std::string& fingerprint) {
    if (fingerprint.empty()) return folder.specification();
    const std::string toml = readFile(folder.specificationPath());
    if (sha256(toml) != fingerprint)
        throw Error(ErrorKind::usage,
                    folder.specificationPath().string() +
                        " has changed since it was queued; resume the run if that is right");
    return parseSpecification(toml, folder.specificationPath().string());
}

/// @returns null if a stop was requested meanwhile
std::unique_ptr<Task> openTaskPromptly(const TaskSettings& settings, const RunFolder& folder,
                                       TextPreparation& preparation) {
    const ExitOnStopSignal nothing_to_save;
    return openTask(settings, folder, preparation.callbacks());
}

/// @param others_wait  whether processes started by srun wait for the address; reset once they have it
RunState trainWithLease(const RunFolder& folder, TrainingObserver& observer, const SessionOptions& session,
                        bool& others_wait) {
    const std::unique_ptr<RunRecorder> opened_recorder = openRecorder(folder);
    RunRecorder& recorder = *opened_recorder;
    std::optional<Followers> followers;  // must end after the run's failure is written
    recorder.logCrashes();
    const Status before = previousStatus(folder);
    try {
        return translateErrors([&] {
            watchStoppedTime();
            writeStarting(recorder);
            Specification specification =
                withoutUnused(readApprovedSpecification(folder, session.specification));
            if (!session.device.empty()) specification.device.name = session.device;
            if (session.threads > 0) specification.device.threads = session.threads;
            specification = withThreadShare(session.processes, std::move(specification));
            requireValid(specification, folder.specificationPath().string());
            requireSequencePerProcess(specification, session.processes);
            note(recorder, observer, setThreads(specification.device.threads));
            RunControl control(/*open_socket=*/true);
            const OpenedDevice opened = openDevice(specification.device);
            note(recorder, observer, opened.note);
            // The device chosen here for "auto" applies to all processes.
            if (session.processes > 1 && specification.device.name == "auto")
                specification.device.name = opened.device.is_cpu() ? "cpu" : "cuda";
            TextPreparation preparation(recorder, control, observer);
            std::unique_ptr<Task> task = openTaskPromptly(specification.task, folder, preparation);
            if (!task) return preparation.end();
            if (!session.ignore_memory_estimate) requireMemory(specification);
            if (const auto free = availableDisk(folder.path()))
                if (const auto problem = diskProblem({specification}, *free + bytesIn(folder.path())))
                    note(recorder, observer, "low disk space: " + *problem);
            return withMemoryEstimate(specification, [&] {
                if (session.processes > 1) followers.emplace(session.processes, folder, specification);
                Trainer trainer(specification, std::move(task), opened.device, recorder, control, observer,
                                followers ? &*followers : nullptr);
                others_wait = false;
                trainer.restore();
                return trainer.run();
            });
        });
    } catch (const Error& error) {
        writeFailure(recorder, error, before);
        throw;
    }
}

}  // namespace

RunState trainRun(const RunFolder& folder, TrainingObserver& observer, const SessionOptions& session) {
    keepFreedHeapMemory();
    handleStopSignals();
    bool others_wait = srunTask(session.processes).has_value();
    const auto announceEndToOthers = [&](const std::string& why, int exit_code) {
        if (others_wait) announceEnd(folder, why, exit_code);
    };
    try {
        const RunState state = trainWithLease(folder, observer, session, others_wait);
        announceEndToOthers("the run is " + stateName(state), 0);
        return state;
    } catch (const Error& error) {
        announceEndToOthers(error.what(), error.exitCode());
        throw;
    } catch (const std::exception& error) {
        announceEndToOthers(error.what(), static_cast<int>(ErrorKind::other));
        throw;
    }
}

std::optional<double> freeMemoryFor(const Specification& specification) {
    const bool on_gpu = gpu() != nullptr && specification.device.name != "cpu";
    return on_gpu ? std::optional(gpu()->memory().free) : availableMemory();
}

void requireMemory(const Specification& specification) {
    const std::optional<double> available = freeMemoryFor(specification);
    if (!available) return;
    if (const auto problem = memoryProblem(specification, *available))
        throw Error(ErrorKind::memory, *problem);
}

void requireSequencePerProcess(const Specification& specification, std::int64_t processes) {
    if (processes > specification.training.batch)
        throw Error(ErrorKind::usage, std::to_string(processes) + " processes cannot share a batch of " +
                                          std::to_string(specification.training.batch) + " (training.batch)");
}

}  // namespace roper
