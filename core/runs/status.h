#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/durable_file.h"

namespace roper {

/// State of a run as its trainer last wrote it, or, for `interrupted`, as seen from outside.
enum class RunState {
    queued,
    running,
    paused,
    finished,
    stopped,
    failed,
    preempted,
    interrupted,  ///< never written: the file says running or paused, but the trainer is gone
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
    double heartbeat = 0;  ///< seconds since 1970, UTC
    std::string device;
    std::string control;  ///< path of the control socket; empty if there is none
    int exit_code = 0;
    std::string error;
};

/// @throws Error (disk)
void writeStatus(const std::filesystem::path& path, const Status& status,
                 Durability durability = Durability::machine_failure);

/// @throws Error (usage) saying what is wrong with the file, Error (disk) if it cannot be read
Status readStatus(const std::filesystem::path& path);

/// Fills pid, process start, host, boot id and heartbeat with those of this process.
void stampWithThisProcess(Status& status);

/// Whether the process that wrote the status is still there. On another host the heartbeat decides: silent
/// for more than a minute means gone.
bool writerIsAlive(const Status& status);

/// The state a person should be told: running or paused only while the trainer is really there.
RunState trueState(const Status& status);

double secondsSinceEpoch();

/// The name of this machine.
std::string thisHost();

}  // namespace roper
