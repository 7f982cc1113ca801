#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace roper {

// A runs folder may come from somebody else: an archive, a shared disk. Reading it does no harm, but two
// things wait for the person's own word: to write into a folder that belongs to another user, and to start a
// queue that this user did not make there. The folders that have that word are kept in
// $XDG_STATE_HOME/roper-lab/trusted-folders.jsonl (else ~/.local/state/…): outside of what could be brought
// along.

/// Whether this user has made a queue in this runs folder, or has said that it is to be treated as their own.
/// A folder that was removed and made again, or that took the place of another, is not the same.
bool isTrusted(const std::filesystem::path& runs);

/// From now on it is. @throws Error (disk) if that cannot be remembered
void trustFolder(const std::filesystem::path& runs);

/// The user whom a folder belongs to, if that is not this one: "anna", or "user 1234".
std::optional<std::string> otherOwnerOf(const std::filesystem::path& folder);

/// Before anything is written into a runs folder, or into a run of one.
/// @throws Error (usage) if it belongs to somebody else and is not trusted; says what can be done
void requireOwn(const std::filesystem::path& folder);

}  // namespace roper
