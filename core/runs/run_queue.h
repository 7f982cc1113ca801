#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/file_lock.h"
#include "core/runs/run_labels.h"

namespace roper {

/// queue.toml of a runs folder: the runs that wait to be trained, first come first. A person may edit it at
/// any time; programs change it only through `changeQueue`.
struct RunQueue {
    struct Entry {
        std::string run;  ///< name of its folder
        bool held = false;

        bool operator==(const Entry&) const = default;
    };
    int at_once = 1;                   ///< trainers that work at the same time; `devices` overrides it
    int threads = 0;                   ///< CPU threads of each; 0 shares the cores evenly
    std::vector<std::string> devices;  ///< one trainer each, such as "cuda:0"; empty: as each run says
    std::vector<Entry> entries;

    int places() const { return devices.empty() ? at_once : static_cast<int>(devices.size()); }
    bool hasWork() const;
    bool operator==(const RunQueue&) const = default;
};

FilePath queuePath(const std::filesystem::path& runs);

/// A missing file is an empty queue. @throws Error (usage) with path:line:column of what is wrong
RunQueue readQueue(const std::filesystem::path& runs);
RunQueue parseQueue(std::string_view toml, const std::string& origin);
std::string toToml(const RunQueue& queue);

/// Whether runs that a change adds to the queue, or releases, count as approved by this user
/// (`core/runs/own_queue.h`).
enum class Approves { what_it_queues, nothing };

/// Reads the queue, lets `change` change it and replaces the file, with no other program in between.
/// @throws Error; a file that cannot be read is left as it is
void changeQueue(const std::filesystem::path& runs, const std::function<void(RunQueue&)>& change,
                 Approves approves = Approves::what_it_queues);

/// A run that is to be made.
struct NewRun {
    NewRun(Specification wanted, RunLabels said = {})
        : specification(std::move(wanted)), labels(std::move(said)) {}

    Specification specification;
    RunLabels labels;
};

/// Makes runs and puts them at the end of the queue. @returns their names @throws Error
std::vector<std::string> enqueueRuns(const std::filesystem::path& runs, const std::vector<NewRun>& wanted);

/// Puts a run that was stopped, or never started, back among those that wait; one of which run.toml asks for
/// more steps than it was trained for may go on as it is. @throws Error
void allowToGoOn(const RunFolder& folder);

/// Held by the one program that works through the queue.
class QueueLock {
  public:
    /// @throws Error (disk)
    explicit QueueLock(const std::filesystem::path& runs);

    /// Whether this is the one; if not, another program works through the queue already.
    bool isMine() const { return lock_.held(); }
    const std::string& holder() const { return lock_.holder(); }

  private:
    FileLock lock_;
};

/// Whether some program works through the queue now.
bool queueIsWorked(const std::filesystem::path& runs);

}  // namespace roper
