#include "core/training/followers.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/base/file_path.h"
#include "core/training/data_parallel.h"
#include "core/training/srun_tasks.h"

namespace roper {
namespace {

pid_t startFollower(const Address& at, int rank, int size, const FilePath& messages) {
    const Descriptor dev_null = openFile("/dev/null", O_RDWR);
    // Arguments and sometimes the environment of a process can be read by others.
    const Descriptor key = inputDescriptorFor(at.key + "\n");
    const Descriptor output = openFile(messages, O_WRONLY | O_CREAT | O_APPEND);
    return startProcess("/proc/self/exe",
                        {"roper-train", "follow", at.text(), "--rank", std::to_string(rank), "--of",
                         std::to_string(size), "--with-parent", std::to_string(::getpid())},
                        {key.number(), dev_null.number(), output.number()});
}

}  // namespace

std::string readyKey(int rank) {
    return "ready " + std::to_string(rank);
}

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

/// Checks the processes started by this one.
void Followers::requireRunning() {
    constexpr int kSignalled = 128;
    const std::optional<int> exit_code = children_.exitCode();
    if (!exit_code) return;
    group_->throwReportedFailure();
    throw Error(*exit_code > kSignalled ? ErrorKind::preempted : ErrorKind::other,
                "another process of this run has ended with exit code " + std::to_string(*exit_code) +
                    "; its messages are in " + folder_.trainerStderrPath().string());
}

Followers::~Followers() {
    // After an error they may be in the middle of a step: closing the group makes that step fail.
    if (!is_connected_ || std::uncaught_exceptions() > exceptions_) return;
    try {
        sendCommand(kEnd);
    } catch (const Error&) {
        // They have already ended.
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

}  // namespace roper
