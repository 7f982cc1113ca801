#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/runs/run_queue.h"

namespace roper {

// A queue starts trainers, but its file may have come with a folder of foreign origin. Therefore only runs
// that this user has queued or approved are trained, with their run.toml of that time: each is recorded
// outside the folder with the SHA-256 of its run.toml.

/// A waiting run as shown to the user.
struct WaitingRun {
    std::string name, fingerprint;  ///< SHA-256 of its run.toml; empty if that cannot be read

    bool operator==(const WaitingRun&) const = default;
};

/// Records this user's approval of these runs with their current run.toml. Runs that cannot be recorded wait
/// for approval.
void approveRuns(const std::filesystem::path& runs, const std::vector<std::string>& names);

/// Records approval of the run.toml files that the user was shown, even if they have changed since.
/// @throws Error (disk) if that cannot be recorded
void approveFingerprints(const std::filesystem::path& runs, const std::vector<WaitingRun>& shown);

/// Gives the approval of a run, if it has one, to its new name. To be called before the run is renamed.
/// @throws Error (disk)
void transferApproval(const std::filesystem::path& runs, const std::string& from, const std::string& to);

/// Removes the approvals of runs that are no longer in the queue. @throws Error (disk)
void removeApprovals(const std::filesystem::path& runs, const std::vector<std::string>& names);

/// The SHA-256 with which the run was approved, if its run.toml still matches; otherwise empty.
std::optional<std::string> approvedFingerprint(const std::filesystem::path& runs, const std::string& name);

/// Runs of the queue that are not held and lack this user's approval, or whose run.toml has changed since.
/// @throws Error like `readQueue`
std::vector<WaitingRun> unapprovedRuns(const std::filesystem::path& runs);

/// The queue without runs that lack this user's approval. Does not check whether run.toml has changed, so it
/// is cheap enough to be polled. @throws Error like `readQueue`
RunQueue readApprovedQueue(const std::filesystem::path& runs);

/// A message naming runs that wait for approval, at most three of them.
std::string describeUnapproved(const std::vector<WaitingRun>& waiting);

}  // namespace roper
