#include "core/training/followers.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "core/base/child_process.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/file_path.h"
#include "core/base/this_process.h"
#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/operators/threads.h"
#include "core/operators/translate_errors.h"
#include "core/training/batch_stream.h"
#include "core/training/data_parallel.h"
#include "core/training/loaded_model.h"
#include "core/training/srun_tasks.h"
#include "core/training/stepper.h"

namespace roper {
namespace {

/// Commands of the first process of a run to the others: a number of steps to take, or one of these.
enum FollowerCommand : std::int64_t { kEnd = 0, kReceiveState = -1 };

// Keys in the group's store: what to train, and that one process, or all, have built their models.
constexpr const char* kSpecificationKey = "specification";
constexpr const char* kFolderKey = "folder";
constexpr const char* kAllReadyKey = "all ready";
std::string readyKey(int rank) {
    return "ready " + std::to_string(rank);
}

pid_t startFollower(const Address& at, int rank, int size, const FilePath& messages) {
    const Descriptor dev_null = openFile("/dev/null", O_RDWR);
    // By standard input, since other users can read the arguments and sometimes the environment of a process.
    const Descriptor key = inputDescriptorFor(at.key + "\n");
    const Descriptor output = openFile(messages, O_WRONLY | O_CREAT | O_APPEND);
    return startProcess("/proc/self/exe",
                        {"roper-train", "follow", at.text(), "--rank", std::to_string(rank), "--of",
                         std::to_string(size), "--with-parent", std::to_string(::getpid())},
                        {key.number(), dev_null.number(), output.number()});
}

/// Builds the model and executes the commands of rank 0.
void executeCommands(ProcessGroup& group) {
    const Specification specification =
        parseSpecification(group.get(kSpecificationKey), "the first process's specification");
    const RunFolder folder(group.get(kFolderKey));
    setThreads(specification.device.threads);
    const std::unique_ptr<Task> task = openTask(specification.task, folder);
    const at::Device device = openDevice(specification.device, localRank(group.rank(), group.size())).device;
    const DedicatedStream stream(device);
    Transformer model(specification, modelVocabularySize(*task, specification), device);
    AdamW optimizer(model.parameters(), specification.training);
    group.set(readyKey(group.rank()), "");
    while (!group.has(kAllReadyKey))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    group.connect();
    // From now on only the first process decides when to end, since it must save; this process ends with it.
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);
    TrainingPosition position;
    std::optional<BatchStream> batches;
    std::unique_ptr<Stepper> stepper;
    GradientAllReduce gradients(group, device);
    while (true) {
        at::Tensor number = at::zeros({1}, at::kLong);
        group.broadcast(number);
        const auto command = number.item<std::int64_t>();
        if (command == kEnd) return;
        if (command != kReceiveState) {
            stepper->advance(command);
            continue;
        }
        stepper.reset();
        batches.reset();
        broadcastState(group, model, optimizer, position);
        batches.emplace(*task, specification, position.next_sequence,
                        shardOf(specification.training.batch, group.rank(), group.size()));
        model.selectAttentionBackend(specification.training.batch, specification.inputLength());
        stepper = makeStepper({model, optimizer, *batches, specification, device, &gradients, group.rank()},
                              position.step);
    }
}

}  // namespace

ChildProcesses::~ChildProcesses() {
    waitOrKill(running_);
}

std::optional<int> ChildProcesses::exitCode() {
    for (auto child = running_.begin(); child != running_.end(); ++child) {
        const std::optional<int> exit_code = exitCodeIfEnded(*child);
        if (!exit_code) continue;
        running_.erase(child);
        return exit_code;
    }
    return std::nullopt;
}

Followers::Followers(std::int64_t processes, const RunFolder& folder, const Specification& specification)
    : folder_(folder), by_srun_(srunTask(processes).has_value()) {
    const auto size = static_cast<int>(processes);
    group_ = ProcessGroup::create(size, !by_srun_);
    group_->set(kSpecificationKey, toToml(specification));
    group_->set(kFolderKey, folder.confinedPath().string());
    if (by_srun_) announceAddress(folder, group_->address());
    for (int rank = 1; rank < size && !by_srun_; ++rank)
        children_.add(startFollower(group_->address(), rank, size, folder.trainerStderrPath()));
}

void Followers::connect(const std::function<void()>& poll) {
    constexpr auto kTimeout = std::chrono::minutes(5);
    const auto until = std::chrono::steady_clock::now() + kTimeout;
    for (int rank = 1; rank < group_->size(); ++rank) {
        while (!group_->has(readyKey(rank))) {
            group_->throwReportedFailure();
            requireRunning();
            if (std::chrono::steady_clock::now() > until)
                throw Error(ErrorKind::other, "process " + std::to_string(rank) + " of " +
                                                  std::to_string(group_->size()) +
                                                  " was not ready to train within five minutes");
            poll();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    group_->set(kAllReadyKey, "");
    group_->connect();
    is_connected_ = true;
    if (by_srun_) removeAnnouncement(folder_);
}

/// @throws Error if a process started by this one has ended
void Followers::requireRunning() {
    constexpr int kSignalled = 128;  // 128 + the number of the signal that ended a process
    const std::optional<int> exit_code = children_.exitCode();
    if (!exit_code) return;
    group_->throwReportedFailure();
    throw Error(*exit_code > kSignalled ? ErrorKind::preempted : ErrorKind::other,
                "another process of this run has ended with exit code " + std::to_string(*exit_code) +
                    "; its messages are in " + folder_.trainerStderrPath().string());
}

Followers::~Followers() {
    // After an error the others may be in the middle of a step: closing the group makes that step fail.
    if (!is_connected_ || std::uncaught_exceptions() > exceptions_) return;
    try {
        sendCommand(kEnd);
    } catch (const Error&) {
        // The others have already ended.
    }
}

void Followers::sendCommand(std::int64_t command) {
    at::Tensor number = at::tensor({command}, at::kLong);
    group_->broadcast(number);
}

void Followers::step(std::int64_t count) {
    sendCommand(count);
}

void Followers::broadcastState(Transformer& model, AdamW& optimizer, TrainingPosition& position) {
    sendCommand(kReceiveState);
    roper::broadcastState(*group_, model, optimizer, position);
}

void followRun(const Address& first, int rank, int size) {
    keepFreedHeapMemory();
    translateErrors([&] {
        const std::unique_ptr<ProcessGroup> group = ProcessGroup::join(first, rank, size);
        try {
            translateErrors([&] { executeCommands(*group); });
        } catch (const Error& error) {
            // The final result and exit code are those of the first process.
            if (error.kind() == ErrorKind::preempted) return reportToUser(error.what());
            group->reportFailure(Error(
                error.kind(), "process " + std::to_string(rank) + " on " + thisHost() + ": " + error.what()));
            throw;
        }
    });
}

bool followIfSrunTask(const RunFolder& folder, std::int64_t processes) {
    const auto task = srunTask(processes);
    if (!task || task->rank == 0) return false;
    if (const auto first = awaitAddress(folder)) followRun(*first, task->rank, task->size);
    return true;
}

}  // namespace roper
