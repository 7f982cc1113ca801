#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/durable_file.h"
#include "core/base/this_process.h"

namespace roper {

/// State of a run as its trainer last wrote it, or, for `interrupted` and `unfinished`, as seen from outside.
enum class RunState {
    queued,
    running,
    paused,
    finished,
    stopped,
    failed,
    preempted,
    interrupted,  ///< never written: the file says running or paused, but the trainer is gone
    unfinished,   ///< never written: the file says finished, but run.toml asks for more steps since
};

std::string stateName(RunState state);

/// status.json: who trains this run, and how far it is. Written whole each time, by rename.
struct Status {
    RunState state = RunState::queued;
    std::int64_t step = 0;
    std::int64_t steps = 0;
    std::int64_t pid = 0;
    std::uint64_t process_start =
        0;  ///< start time of the process in clock ticks since boot, so that a pid used again is told apart
    std::string host;
    std::string boot_id;
    std::string pid_namespace;  ///< in which `pid` counts; empty if an older version wrote the status
    double heartbeat = 0;       ///< seconds since 1970, UTC
    std::string device;
    std::string control;  ///< path of the control socket; empty if there is none
    int exit_code = 0;
    std::string error;
    std::string version;  ///< of the program that wrote it; empty if an older one did
};

/// @throws Error (disk)
void writeStatus(const FilePath& path, const Status& status,
                 Durability durability = Durability::machine_failure);

/// @throws Error (usage) saying what is wrong with the file, Error (disk) if it cannot be read
Status readStatus(const FilePath& path);

/// The same from memory; `origin` names it in errors.
Status parseStatus(std::string_view text, const std::string& origin);

/// Fills pid, its namespace, process start, host, boot id and heartbeat with those of this process.
void stampWithThisProcess(Status& status);

/// How much can be known of the process that wrote a status.
enum class Witness {
    process,    ///< it is of this machine and container: its id and start time tell
    lock,       ///< of another container on this machine: its lock tells
    heartbeat,  ///< of another machine: silent, or ahead of our clock, for more than a minute means gone
};
Witness witnessOf(const Status& status);

/// Whether the process that wrote the status is still there.
/// @param lock_is_held  whether somebody holds the run's lock; nothing if that cannot be known
bool writerIsAlive(const Status& status, const std::function<std::optional<bool>()>& lock_is_held);

/// Whether that process is on this machine and has been suspended, by SIGSTOP or by Ctrl+Z in its terminal.
bool writerIsSuspended(const Status& status);

/// Whether it says that a trainer is at work.
bool claimsToWork(const Status& status);

}  // namespace roper
