#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace roper {

// A runs folder may come from someone else, so its content cannot express this user's consent. Runs that this
// user has created or approved are recorded outside of it, where no archive can write:
// $XDG_STATE_HOME/roper-lab/folders/KEY.json, by default below ~/.local/state.

/// The folder in which this program stores its state for this user; empty if there is no home folder.
std::optional<std::filesystem::path> userStateFolder();

/// Identity of a folder: its path, inode and, if the file system provides it, creation time, since an inode
/// alone is reused as soon as a folder is removed. Empty if there is no such folder.
std::optional<nlohmann::json> folderIdentity(const std::filesystem::path& folder);

/// One section (a JSON object) of the record of a runs folder. Empty if nothing was recorded, if the record
/// cannot be read, or if another folder has replaced this one.
nlohmann::json readUserRecord(const std::filesystem::path& runs, const char* section);

/// Calls `change` to modify a section, under a lock, and writes the record if it changed.
/// @throws Error (disk) if the record cannot be written, or cannot be read, in which case it is left
/// unchanged
void changeUserRecord(const std::filesystem::path& runs, const char* section,
                      const std::function<void(nlohmann::json&)>& change);

// Nothing is written into a folder of another user unless this user has declared it trusted. Trusted folders
// are listed in trusted-folders.jsonl of `userStateFolder`. Trusting a folder does not allow its runs to
// start: these are approved one by one (`core/runs/queue_approval.h`).

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
