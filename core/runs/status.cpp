#include "core/runs/status.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr double kHeartbeatTimeout_s = 60.0;  // seconds
constexpr std::size_t kMaxErrorBytes = 4000;
constexpr std::array kStateNames = {"queued", "running",   "paused",      "finished",  "stopped",
                                    "failed", "preempted", "interrupted", "unfinished"};

RunState stateFromName(const std::string& name) {
    for (std::size_t i = 0; i < kStateNames.size(); ++i)
        if (name == kStateNames[i]) return static_cast<RunState>(i);
    throw Error(ErrorKind::usage, "unknown state \"" + name + "\"");
}

}  // namespace

std::string stateName(RunState state) {
    return kStateNames.at(static_cast<std::size_t>(state));
}

void writeStatus(const FilePath& path, const Status& status, Durability durability) {
    const nlohmann::ordered_json json = {
        {"state", stateName(status.state)},
        {"step", status.step},
        {"steps", status.steps},
        {"pid", status.pid},
        {"process_start", status.process_start},
        {"host", status.host},
        {"boot_id", status.boot_id},
        {"pid_namespace", status.pid_namespace},
        {"heartbeat", status.heartbeat},
        {"device", status.device},
        {"control", status.control},
        {"exit_code", status.exit_code},
        {"error", toSingleLine(status.error).substr(0, kMaxErrorBytes)},
        {"version", status.version},
    };
    writeFileAtomically(path, jsonText(json, 2) + "\n", durability);
}

/// An integer; 0 if it is missing.
static std::int64_t integerOrZero(const nlohmann::json& json, const char* key) {
    return json.contains(key) ? integerMember(json, key) : 0;
}

/// Addition to the error for an unreadable status: that another version wrote it, if so.
static std::string writerNote(const nlohmann::json& json) {
    const auto version = json.is_object() ? json.find("version") : json.end();
    if (version == json.end() || !version->is_string() || *version == programVersion()) return {};
    return " (written by version " + toSingleLine(version->get<std::string>()) + "; this is " +
           programVersion() + ")";
}

Status readStatus(const FilePath& path) {
    constexpr std::uint64_t kMaxBytes = 1U << 20U;
    return parseStatus(readFile(path, kMaxBytes), path.string());
}

Status parseStatus(std::string_view text, const std::string& origin) {
    std::string written_by;
    try {
        const auto json = parseStrictJson(text);
        if (!json.is_object()) throw Error(ErrorKind::usage, "it is not a single object");
        written_by = writerNote(json);
        Status status;
        status.state = stateFromName(json.at("state").get<std::string>());
        status.step = integerMember(json, "step");
        status.steps = integerMember(json, "steps");
        status.pid = integerOrZero(json, "pid");
        status.process_start = static_cast<std::uint64_t>(integerOrZero(json, "process_start"));
        // Shown in windows and on terminals, and possibly of foreign origin.
        const auto textOf = [&](const char* key) {
            return truncateText(toSingleLine(json.value(key, "")), kMaxMessageBytes);
        };
        status.host = textOf("host");
        status.boot_id = textOf("boot_id");
        status.pid_namespace = textOf("pid_namespace");
        status.heartbeat = json.value("heartbeat", 0.0);
        status.device = textOf("device");
        status.control = json.value("control", "");
        status.exit_code =
            static_cast<int>(std::clamp<std::int64_t>(integerOrZero(json, "exit_code"), -1, 255));
        status.error = textOf("error");
        status.version = textOf("version");
        return status;
    } catch (const std::exception& error) {
        throw Error(ErrorKind::usage,
                    origin + " is not a run's status: " + jsonErrorMessage(error.what()) + written_by);
    }
}

void stampWithThisProcess(Status& status) {
    status.version = programVersion();
    status.pid = ::getpid();
    status.pid_namespace = thisPidNamespace();
    status.process_start = processStart(status.pid);
    status.host = thisHost();
    status.boot_id = thisBoot();
    status.heartbeat = secondsSinceEpoch();
}

LivenessCheck livenessCheckFor(const Status& status) {
    // The boot id identifies the machine; a container has its own host name.
    const bool same_machine =
        status.boot_id == thisBoot() && (!status.boot_id.empty() || status.host == thisHost());
    if (!same_machine) return LivenessCheck::heartbeat;
    const bool same_pid_namespace =
        status.pid_namespace.empty() || status.pid_namespace == thisPidNamespace();
    return same_pid_namespace ? LivenessCheck::process : LivenessCheck::lock;
}

static bool hasRecentHeartbeat(const Status& status) {
    // A status written by this machine before its last boot is from a process that has ended.
    if (status.host == thisHost() && status.heartbeat < bootTime()) return false;
    return std::abs(secondsSinceEpoch() - status.heartbeat) < kHeartbeatTimeout_s;
}

bool writerIsAlive(const Status& status, const std::function<std::optional<bool>()>& lock_is_held) {
    if (status.pid <= 0) return false;
    switch (livenessCheckFor(status)) {
        case LivenessCheck::process:
            return status.process_start != 0 && processStart(status.pid) == status.process_start;
        case LivenessCheck::lock:
            if (const auto held = lock_is_held()) return *held;
            return hasRecentHeartbeat(status);
        case LivenessCheck::heartbeat:
            break;
    }
    return hasRecentHeartbeat(status);
}

bool writerIsSuspended(const Status& status) {
    return reportsActive(status) && livenessCheckFor(status) == LivenessCheck::process &&
           isSuspended(status.pid, status.process_start);
}

bool reportsActive(const Status& status) {
    return status.state == RunState::running || status.state == RunState::paused;
}

}  // namespace roper
