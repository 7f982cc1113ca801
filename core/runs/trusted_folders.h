#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace roper {

// Nothing is written into a folder that belongs to another user unless this one has said so. The folders of
// which they have are kept in roper-lab/trusted-folders.jsonl of `ownStateFolder`. That a folder is trusted
// lets nothing in it start: what may start is recorded file by file (`core/runs/own_queue.h`).

/// Whether this user has said that the folder is to be treated as their own. A folder that was removed and
/// made again, or that took the place of another, is not the same.
bool isTrusted(const std::filesystem::path& runs);

/// From now on it is. @throws Error (disk) if that cannot be remembered
void trustFolder(const std::filesystem::path& runs);

/// The user whom a folder belongs to, if that is not this one: "anna", or "user 1234".
std::optional<std::string> otherOwnerOf(const std::filesystem::path& folder);

/// Before anything is written into a runs folder, or into a run of one.
/// @throws Error (disk) if it belongs to somebody else and is not trusted; says what can be done
void requireOwn(const std::filesystem::path& folder);

}  // namespace roper
