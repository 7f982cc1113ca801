#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/runs/run_queue.h"

namespace roper {

// A queue starts trainers, and its file may have come with the folder. Only runs that this user has queued or
// approved are trained, as their run.toml was then: each is recorded, outside of the folder, with the SHA-256
// of its run.toml.

/// A run that waits, as a person is shown it.
struct WaitingRun {
    std::string name, fingerprint;  ///< SHA-256 of its run.toml; empty if that cannot be read

    bool operator==(const WaitingRun&) const = default;
};

/// Records that this user wants these runs trained, as their run.toml is now. What cannot be recorded waits
/// for their word.
void approveRuns(const std::filesystem::path& runs, const std::vector<std::string>& names);

/// The same of runs as they were shown, whatever has become of them since.
/// @throws Error (disk) if that cannot be recorded
void approveAsShown(const std::filesystem::path& runs, const std::vector<WaitingRun>& shown);

/// A run is about to have another name: it keeps its approval if it has one, and gets none by it.
/// @throws Error (disk)
void carryApproval(const std::filesystem::path& runs, const std::string& from, const std::string& to);

/// They are no longer in the queue. @throws Error (disk)
void forgetRuns(const std::filesystem::path& runs, const std::vector<std::string>& names);

/// The SHA-256 that the run's run.toml was approved with, if it still has that; otherwise nothing.
std::optional<std::string> approvedFingerprint(const std::filesystem::path& runs, const std::string& name);

/// The runs of the queue that are not held and that this user has neither queued nor approved, or whose
/// run.toml has changed since. @throws Error as `readQueue`
std::vector<WaitingRun> unapprovedRuns(const std::filesystem::path& runs);

/// The queue without runs that this user has neither queued nor approved. Whether a run.toml has changed is
/// not looked at, so that this may be called again and again. @throws Error as `readQueue`
RunQueue readApprovedQueue(const std::filesystem::path& runs);

/// For a person: which runs wait for their word, at most three of them by name.
std::string describeUnapproved(const std::vector<WaitingRun>& waiting);

}  // namespace roper
