#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/durable_file.h"
#include "core/base/this_process.h"

namespace roper {

/// State of a run as last written by its trainer, or, for `interrupted` and `unfinished`, as seen from
/// outside.
enum class RunState {
    queued,
    running,
    paused,
    finished,
    stopped,
    failed,
    preempted,
    interrupted,  ///< never written: the file says running or paused, but the trainer has ended
    unfinished,   ///< never written: the file says finished, but run.toml now asks for more steps
};

std::string stateName(RunState state);

/// status.json: the trainer of this run, and its progress. Replaced atomically, by rename.
struct Status {
    RunState state = RunState::queued;
    std::int64_t step = 0;   ///< optimizer steps done
    std::int64_t steps = 0;  ///< total optimizer steps of the run
    std::int64_t pid = 0;
    /// start time of the process in clock ticks since boot, which distinguishes reused pids
    std::uint64_t process_start = 0;
    std::string host;
    std::string boot_id;        ///< `thisBoot` of that host
    std::string pid_namespace;  ///< namespace of `pid`; empty if an older version wrote the status
    double heartbeat = 0;       ///< seconds since 1970, UTC
    std::string device;
    std::string control;  ///< path of the control socket; empty if there is none
    int exit_code = 0;    ///< `ErrorKind` of a run that failed, or 0
    std::string error;    ///< why it failed
    std::string version;  ///< of the program that wrote it; empty for older ones
};

/// @throws Error (disk)
void writeStatus(const FilePath& path, const Status& status,
                 Durability durability = Durability::machine_failure);

/// @throws Error (usage) saying what is wrong with the file, Error (disk) if it cannot be read
Status readStatus(const FilePath& path);

/// The same from memory; `origin` is the name used in errors.
Status parseStatus(std::string_view text, const std::string& origin);

/// Sets pid, its namespace, process start, host, boot id and heartbeat to those of this process.
void stampWithThisProcess(Status& status);

/// How to determine whether the process that wrote a status is running.
enum class LivenessCheck {
    process,  ///< on this machine and in this container: by its id and start time
    lock,     ///< in another container on this machine: by its lock
    /// on another machine: by its heartbeat, which may be at most a minute old, or ahead of our clock
    heartbeat,
};
LivenessCheck livenessCheckFor(const Status& status);

/// Whether the process that wrote the status is still running.
/// @param lock_is_held  whether a process holds the run's lock; empty if unknown
bool writerIsAlive(const Status& status, const std::function<std::optional<bool>()>& lock_is_held);

/// Whether that process is on this machine and suspended, by SIGSTOP or by Ctrl+Z in its terminal.
bool writerIsSuspended(const Status& status);

/// Whether the status says that a trainer is working.
bool reportsActive(const Status& status);

}  // namespace roper
