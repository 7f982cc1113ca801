#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/file_lock.h"
#include "core/runs/run_folder.h"

namespace roper {

/// queue.toml of a runs folder: the runs waiting to be trained, in order. Users may edit it at any time;
/// programs change it only through `changeQueue`.
struct RunQueue {
    struct Entry {
        std::string run;  ///< name of its folder
        bool on_hold = false;

        bool operator==(const Entry&) const = default;
    };
    int max_trainers = 1;  ///< number of simultaneous trainers; overridden by `devices`
    int threads = 0;       ///< CPU threads per trainer; 0 divides the cores evenly
    /// such as "cuda:0", with one trainer each; empty: as specified by each run
    std::vector<std::string> devices;
    std::vector<Entry> entries;

    /// Number of trainers that may run at the same time.
    int capacity() const { return devices.empty() ? max_trainers : static_cast<int>(devices.size()); }
    bool hasWork() const;  ///< whether any run is not on hold
    bool operator==(const RunQueue&) const = default;
};

FilePath queuePath(const std::filesystem::path& runs);

/// A missing file is an empty queue. @throws Error (usage) with path:line:column of what is wrong
RunQueue readQueue(const std::filesystem::path& runs);
RunQueue parseQueue(std::string_view toml, const std::string& origin);
std::string toToml(const RunQueue& queue);

/// Whether runs that a change adds to the queue, or releases, become approved by this user
/// (`core/runs/queue_approval.h`).
enum class AutoApproval { queued_runs, none };

/// Reads the queue, lets `change` modify it and replaces the file, under a lock.
/// @throws Error; a file that cannot be read is left unchanged
void changeQueue(const std::filesystem::path& runs, const std::function<void(RunQueue&)>& change,
                 AutoApproval auto_approval = AutoApproval::queued_runs);

/// A run to be created.
struct NewRun {
    NewRun(Specification requested, RunLabels initial_labels = {})
        : specification(std::move(requested)), labels(std::move(initial_labels)) {}

    Specification specification;
    RunLabels labels;
};

/// Creates runs and appends them to the queue. @returns their names @throws Error
std::vector<std::string> enqueueRuns(const std::filesystem::path& runs, const std::vector<NewRun>& requested);

/// Sets a run that was stopped, or never started, back to waiting; a finished run whose run.toml asks for
/// more steps can continue as it is. @throws Error
void resetToQueued(const RunFolder& folder);

/// Tries to take the lock of the program that processes the queue; not `held()` if another one has it.
/// @throws Error (disk)
[[nodiscard]] FileLock lockQueue(const std::filesystem::path& runs);

/// Whether a program is currently processing the queue.
bool isQueueBeingProcessed(const std::filesystem::path& runs);

}  // namespace roper
