#include "core/runs/user_record.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/cryptography.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_lock.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* kFolderKey = "folder";

/// The record of one runs folder, with the folder's identity.
struct UserRecord {
    fs::path path;
    Json identity;
};

/// Whether two folders with the same path and inode, which the record's file name implies, are the same: they
/// are, unless both have a creation time and these differ. Some machines or kernels do not report that time.
bool isSameFolder(const Json& a, const Json& b) {
    const auto creationTime = [](const Json& one) {
        return std::pair(one.value("made_s", Json(0)), one.value("made_ns", Json(0)));
    };
    const auto first = creationTime(a), second = creationTime(b);
    return first.first == 0 || second.first == 0 || first == second;
}

/// Empty without a home folder, or without such a folder.
std::optional<UserRecord> recordOf(const fs::path& runs) {
    constexpr std::size_t kDigits = 32;
    const auto state = userStateFolder();
    auto identity = folderIdentity(runs);
    if (!state || !identity) return std::nullopt;
    const std::string key =
        sha256(identity->at("inode").dump() + identity->at("path").get_ref<const std::string&>())
            .substr(0, kDigits);
    return UserRecord{*state / "folders" / (key + ".json"), std::move(*identity)};
}

/// The recorded sections; none if they belong to another folder.
/// @throws Error (disk) if there is a record that cannot be read
Json sectionsIn(const UserRecord& record) {
    if (!pathExists(record.path)) return Json::object();
    Json sections = Json::parse(readFile(record.path), nullptr, /*allow_exceptions=*/false);
    const bool is_of_folder = sections.is_object() && sections.contains(kFolderKey) &&
                              sections[kFolderKey].is_object() &&
                              isSameFolder(sections[kFolderKey], record.identity);
    return is_of_folder ? sections : Json::object();
}

Json sectionOf(const Json& sections, const char* name) {
    const auto found = sections.find(name);
    return found != sections.end() && found->is_object() ? *found : Json::object();
}

}  // namespace

std::optional<fs::path> userStateFolder() {
    constexpr const char* kName = "roper-lab";
    const fs::path state = environmentVariable("XDG_STATE_HOME"), home = environmentVariable("HOME");
    if (state.is_absolute()) return state / kName;
    if (home.is_absolute()) return home / ".local" / "state" / kName;
    return std::nullopt;
}

std::optional<Json> folderIdentity(const fs::path& folder) {
    std::error_code missing;
    const fs::path path = fs::canonical(folder, missing);
    struct statx info {};
    if (missing || ::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &info) != 0)
        return std::nullopt;
    const bool has_creation_time = (info.stx_mask & STATX_BTIME) != 0;
    return Json{{"path", path.string()},
                {"inode", info.stx_ino},
                {"made_s", has_creation_time ? info.stx_btime.tv_sec : 0},
                {"made_ns", has_creation_time ? info.stx_btime.tv_nsec : 0}};
}

Json readUserRecord(const fs::path& runs, const char* section) {
    const auto record = recordOf(runs);
    try {
        return record ? sectionOf(sectionsIn(*record), section) : Json::object();
    } catch (const Error&) {
        return Json::object();  // an unreadable record approves nothing
    }
}

void changeUserRecord(const fs::path& runs, const char* section, const std::function<void(Json&)>& change) {
    constexpr double kMaxLockWait_s = 10;  // other programs change a small file within milliseconds
    const auto record = recordOf(runs);
    if (!record)
        throw Error(ErrorKind::disk, "the runs that you create in " + runs.string() +
                                         " cannot be recorded as yours: set HOME or XDG_STATE_HOME");
    makeFolder(record->path.parent_path());
    const FileLock lock(record->path.string() + ".lock", waitAtMost(kMaxLockWait_s, record->path.string()));
    Json sections = sectionsIn(*record);
    const Json before = sectionOf(sections, section);
    Json after = before;
    change(after);
    if (after == before) return;
    sections[kFolderKey] = record->identity;
    sections[section] = std::move(after);
    writeFileAtomically(record->path, jsonText(sections, 1) + "\n", Durability::process_death);
}

namespace {

/// Path of the list; empty without a home folder.
std::optional<fs::path> listPath() {
    const auto state = userStateFolder();
    return state ? std::optional(*state / "trusted-folders.jsonl") : std::nullopt;
}

/// The identity of a folder, as a line of the list.
std::optional<std::string> lineOf(const fs::path& folder) {
    const auto identity = folderIdentity(folder);
    return identity ? std::optional(jsonText(*identity)) : std::nullopt;
}

/// The list's lines; none if there is no list. @throws Error (disk)
std::vector<std::string> readList(const fs::path& path) {
    std::vector<std::string> list;
    if (!pathExists(path.string())) return list;
    LineReader lines(path.string());
    while (const auto line = lines.next())
        list.emplace_back(*line);
    return list;
}

/// Whether the folder of a line no longer exists.
bool isGone(const std::string& line) {
    const auto entry = Json::parse(line, nullptr, false);
    if (!entry.is_object() || !entry.contains("path") || !entry["path"].is_string()) return true;
    return lineOf(entry["path"].get<std::string>()) != line;
}

std::optional<uid_t> ownerOf(const fs::path& folder) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0) return std::nullopt;
    return info.st_uid;
}

std::string nameOf(uid_t user) {
    std::array<char, 4096> buffer{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
        return found->pw_name;
    return "user " + std::to_string(user);
}

}  // namespace

/// If the list cannot be read, nothing is trusted.
bool isTrusted(const fs::path& runs) {
    const auto path = listPath();
    const auto line = lineOf(runs);
    if (!path || !line) return false;
    try {
        const std::vector<std::string> list = readList(*path);
        return hasElement(list, *line);
    } catch (const Error&) {
        return false;
    }
}

void trustFolder(const fs::path& runs) {
    if (isTrusted(runs)) return;
    const auto path = listPath();
    const auto line = lineOf(runs);
    if (!path)
        throw Error(ErrorKind::disk,
                    "cannot record that " + runs.string() + " is trusted: set HOME or XDG_STATE_HOME");
    if (!line) throw diskError("open", runs.string(), ENOENT);
    makeFolder(path->parent_path().string());
    const FileLock lock(path->string() + ".lock", waitAtMost(5, path->string()));
    std::vector<std::string> list = readList(*path);
    constexpr std::size_t kMany = 1000;
    if (list.size() >= kMany) std::erase_if(list, isGone);
    list.push_back(*line);
    writeFileAtomically(path->string(), join(list, "\n") + "\n");
}

std::optional<std::string> otherOwnerOf(const fs::path& folder) {
    const auto owner = ownerOf(folder);
    if (!owner || *owner == ::geteuid()) return std::nullopt;
    return nameOf(*owner);
}

void requireOwnedOrTrusted(const fs::path& folder) {
    const auto other = otherOwnerOf(folder);
    if (!other) return;
    const fs::path above = fs::absolute(folder).parent_path();
    if (isTrusted(folder) || isTrusted(above)) return;
    throw Error(ErrorKind::disk,
                "nothing is written to " + folder.string() + ", because it belongs to " + *other +
                    ". Choose a folder of your own with --runs, copy this one, or run roper-train trust "
                    "FOLDER with the runs folder to treat it as yours.");
}

}  // namespace roper
