#include "core/training/srun_tasks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {
namespace {

/// A separate file for each job step, so that a file left over from an earlier step is not used. The next
/// process that writes to the run removes it, like all partial files.
FilePath announcementPath(const RunFolder& folder) {
    const std::vector<std::string> names{"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"};
    const std::vector<std::string> step = mapped(names, environmentVariable);
    return folder.file(std::string("processes").append(kPartialMark).append(join(step, ".")));
}

/// Without this check, anyone with write access to the run's folder could redirect the connection.
/// @throws Error (disk) unless the file belongs to this user and is accessible only to them
void requireOwnFile(const FilePath& path) {
    struct stat info {};
    const Descriptor file = openFile(path, O_RDONLY);
    if (::fstat(file.number(), &info) != 0 || info.st_uid != ::geteuid() || (info.st_mode & 077) != 0)
        throw Error(
            ErrorKind::disk,
            path.string() + " should contain the address of the first process, but was not written by it");
}

void announce(const RunFolder& folder, const nlohmann::json& json) {
    writeFileAtomically(announcementPath(folder), json.dump() + "\n", Durability::process_death,
                        FilePermissions::owner);  // it contains the key of the group
}

}  // namespace

std::optional<SrunTask> srunTask(std::int64_t processes) {
    const auto rank = parseInteger(environmentVariable("SLURM_PROCID")),
               size = parseInteger(environmentVariable("SLURM_STEP_NUM_TASKS"));
    if (!rank || !size || *size < 2 || processes < 2) return std::nullopt;
    if (*size != processes)
        throw Error(ErrorKind::usage, "srun started " + std::to_string(*size) +
                                          " processes, but --processes is " + std::to_string(processes) +
                                          ": use the same number for both");
    return SrunTask{static_cast<int>(*rank), static_cast<int>(*size)};
}

int localRank(int rank, int size) {
    const auto local = srunTask(size) ? parseInteger(environmentVariable("SLURM_LOCALID")) : std::nullopt;
    return static_cast<int>(local.value_or(rank));
}

void announceAddress(const RunFolder& folder, const Address& at) {
    announce(folder, {{"host", at.host}, {"port", at.port}, {"key", at.key}});
}

void announceEnd(const RunFolder& folder, const std::string& why, int exit_code) {
    try {
        announce(folder, {{"ended", why}, {"exit_code", exit_code}});
    } catch (const Error&) {
        // The disk may be full. The other processes then time out and report that.
    }
}

void removeAnnouncement(const RunFolder& folder) {
    try {
        removeFile(announcementPath(folder));
    } catch (const Error&) {
        // It remains until the run is written again.
    }
}

std::optional<Address> awaitAddress(const RunFolder& folder) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point began = Clock::now();
    const FilePath path = announcementPath(folder);
    bool was_there = false;
    while (Clock::now() - began < std::chrono::minutes(30)) {
        const bool is_there = pathExists(folder.confinedPath());
        if (!is_there && (was_there || Clock::now() - began > std::chrono::minutes(2)))
            throw Error(ErrorKind::other, "the first process has ended, or has not created " +
                                              folder.path().string() + "; its messages say why");
        was_there = is_there;
        if (pathExists(path)) {
            requireOwnFile(path);
            const auto json = parseStrictJson(readFile(path));
            if (!json.contains("ended"))
                return Address{json.at("host").get<std::string>(), json.at("port").get<int>(),
                               json.at("key").get<std::string>()};
            const int code = json.at("exit_code").get<int>();
            if (code == 0) return std::nullopt;
            throw Error(static_cast<ErrorKind>(code),
                        "the first process has ended: " + json.at("ended").get<std::string>());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    throw Error(ErrorKind::other, "the first process of " + folder.path().string() +
                                      " did not announce its address within half an hour");
}

}  // namespace roper
