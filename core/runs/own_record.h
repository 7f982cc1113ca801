#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace roper {

// A runs folder may come from somebody else, so nothing in it can say what this user wants done. What this
// user has made or approved there is recorded outside of it, where no archive reaches:
// $XDG_STATE_HOME/roper-lab/folders/KEY.json, else below ~/.local/state.

/// The folder in which this program keeps what it remembers for this user; nothing without a home.
std::optional<std::filesystem::path> ownStateFolder();

/// What a folder is known by: its path, inode and, where the file system tells it, when it was made. An inode
/// alone is given again as soon as a folder is removed. Nothing if there is no such folder.
std::optional<nlohmann::json> identityOf(const std::filesystem::path& folder);

/// One section of what is recorded of a runs folder, an object. It is empty if nothing was recorded, if what
/// was cannot be read, or if another folder has taken the place of this one.
nlohmann::json readOwnRecord(const std::filesystem::path& runs, const char* section);

/// Lets `change` change a section, with no other program in between, and writes the record if it did.
/// @throws Error (disk) if it cannot be written, or cannot be read: then it stays as it is
void changeOwnRecord(const std::filesystem::path& runs, const char* section,
                     const std::function<void(nlohmann::json&)>& change);

}  // namespace roper
