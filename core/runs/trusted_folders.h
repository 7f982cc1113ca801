#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace roper {

// Nothing is written into a folder of another user without consent. The folders for which this user has given
// it are stored in roper-lab/trusted-folders.jsonl of `userStateFolder`. Trusting a folder does not allow its
// runs to start: that is recorded file by file (`core/runs/queue_approval.h`).

/// Whether this user has declared the folder trusted. A folder that was removed and recreated, or that
/// replaced another, is not trusted.
bool isTrusted(const std::filesystem::path& runs);

/// Marks the folder as trusted. @throws Error (disk) if that cannot be stored
void trustFolder(const std::filesystem::path& runs);

/// The owner of a folder, if it is another user: "anna", or "user 1234".
std::optional<std::string> otherOwnerOf(const std::filesystem::path& folder);

/// To be called before anything is written into a runs folder, or into one of its runs.
/// @throws Error (disk) if it belongs to another user and is not trusted; says what can be done
void requireOwnedOrTrusted(const std::filesystem::path& folder);

}  // namespace roper
