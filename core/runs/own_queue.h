#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/runs/run_queue.h"

namespace roper {

// A queue starts trainers, and its file may have come with the folder. Only runs that this user has queued or
// approved are trained, as their run.toml was then: each is recorded, outside of the folder, with the SHA-256
// of its run.toml.

/// Records that this user wants these runs trained. What cannot be recorded waits for their word.
void approveRuns(const std::filesystem::path& runs, const std::vector<std::string>& names);

/// They are no longer in the queue. @throws Error (disk)
void forgetRuns(const std::filesystem::path& runs, const std::vector<std::string>& names);

/// Whether this user has queued or approved the run, and its run.toml is still the same.
bool isApproved(const std::filesystem::path& runs, const std::string& name);

/// The runs of the queue that are not held and for which that does not hold. @throws Error as `readQueue`
std::vector<std::string> unapprovedRuns(const std::filesystem::path& runs);

/// The queue without runs that this user has neither queued nor approved. Whether a run.toml has changed is
/// not looked at, so that this may be called again and again. @throws Error as `readQueue`
RunQueue readApprovedQueue(const std::filesystem::path& runs);

/// Approves all that waits in the queue now. @throws Error (disk) if that cannot be recorded
void approveQueue(const std::filesystem::path& runs);

/// For a person: which runs wait for their word, at most three of them by name.
std::string describeUnapproved(const std::vector<std::string>& names);

}  // namespace roper
