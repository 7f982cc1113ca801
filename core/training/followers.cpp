#include "core/training/followers.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
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
    const Descriptor nothing = openFile("/dev/null", O_RDWR);
    const Descriptor said = openFile(messages, O_WRONLY | O_CREAT | O_APPEND);
    return startProcess("/proc/self/exe",
                        {"roper-train", "follow", at.text(), "--rank", std::to_string(rank), "--of",
                         std::to_string(size), "--with-parent", std::to_string(::getpid())},
                        {nothing.number(), nothing.number(), said.number()});
}

}  // namespace

std::string readyKey(int rank) {
    return "ready " + std::to_string(rank);
}

ChildProcesses::~ChildProcesses() {
    for (const pid_t pid : running_)
        waitOrKill(pid);
}

void ChildProcesses::requireRunning(const std::string& messages) {
    for (auto child = running_.begin(); child != running_.end(); ++child) {
        const std::optional<int> exit_code = exitCodeIfEnded(*child);
        if (!exit_code) continue;
        running_.erase(child);
        throw Error(ErrorKind::other, "a process that was to train this run, too, has ended with exit code " +
                                          std::to_string(*exit_code) + "; what it said is in " + messages);
    }
}

Followers::Followers(std::int64_t processes, const RunFolder& folder, const Specification& specification) {
    if (processes > specification.training.batch)
        throw Error(ErrorKind::usage, std::to_string(processes) + " processes cannot share a batch of " +
                                          std::to_string(specification.training.batch) + " (training.batch)");
    const auto size = static_cast<int>(processes);
    const bool by_srun = srunTask(processes).has_value();
    group_ = ProcessGroup::lead(size, !by_srun);
    group_->set(kSpecificationKey, toToml(specification));
    group_->set(kFolderKey, folder.confinedPath().string());
    if (by_srun)
        announceAddress(folder, group_->address());
    else
        for (int rank = 1; rank < size; ++rank)
            children_.add(startFollower(group_->address(), rank, size, folder.messagesPath()));
    awaitReady(folder.messagesPath().string());
    if (by_srun) removeAnnouncement(folder);
    group_->connect();
}

/// Waits until all have made their models. They say it if they cannot.
void Followers::awaitReady(const std::string& messages) {
    constexpr auto kLongest = std::chrono::minutes(5);
    const auto until = std::chrono::steady_clock::now() + kLongest;
    for (int rank = 1; rank < group_->size(); ++rank) {
        while (!group_->has(readyKey(rank))) {
            group_->throwReportedFailure();
            children_.requireRunning(messages);
            if (std::chrono::steady_clock::now() > until)
                throw Error(ErrorKind::other, "process " + std::to_string(rank) + " of " +
                                                  std::to_string(group_->size()) +
                                                  " has not come within five minutes");
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
}

Followers::~Followers() {
    // Amid a step the others are elsewhere: they notice that this process is gone.
    if (std::uncaught_exceptions() > exceptions_) return;
    try {
        tell(kEnd);
    } catch (const Error&) {
        // So do they here.
    }
}

void Followers::tell(std::int64_t command) {
    at::Tensor number = at::tensor({command}, at::kLong);
    group_->broadcast(number);
}

void Followers::step(std::int64_t count) {
    tell(count);
}

void Followers::broadcastState(Transformer& model, AdamW& optimizer, TrainingPosition& position) {
    tell(kTakeState);
    roper::broadcastState(*group_, model, optimizer, position);
}

}  // namespace roper
