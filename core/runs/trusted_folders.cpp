#include "core/runs/trusted_folders.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_lock.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/runs/user_record.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

/// Path of the list; empty without a home folder.
std::optional<fs::path> listPath() {
    const auto state = userStateFolder();
    return state ? std::optional(*state / "trusted-folders.jsonl") : std::nullopt;
}

/// The identity of a folder, as a line of the list.
std::optional<std::string> lineOf(const fs::path& folder) {
    const auto identity = folderIdentity(folder);
    if (!identity) return std::nullopt;
    return identity->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
    const auto entry = nlohmann::json::parse(line, nullptr, false);
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
        return std::find(list.begin(), list.end(), *line) != list.end();
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
                    ". Choose a folder of your own with --runs, copy this one, or run `roper-train trust "
                    "FOLDER` with the runs folder to treat it as yours.");
}

}  // namespace roper
