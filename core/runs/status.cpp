#include "core/runs/status.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr double kSilenceMeansGone = 60.0;  // seconds
constexpr std::array kStateNames = {"queued",  "running", "paused",    "finished",
                                    "stopped", "failed",  "preempted", "interrupted"};

RunState stateFromName(const std::string& name) {
    for (std::size_t i = 0; i < kStateNames.size(); ++i)
        if (name == kStateNames[i]) return static_cast<RunState>(i);
    throw Error(ErrorKind::usage, "unknown state \"" + name + "\"");
}

std::string hostName() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string bootId() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

/// Field 22 of /proc/PID/stat; 0 if there is no such process.
std::uint64_t processStart(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::stringstream content;
    content << file.rdbuf();
    const std::string text = content.str();
    const std::size_t after_name = text.rfind(')');  // the name itself may hold blanks and brackets
    if (after_name == std::string::npos) return 0;
    const std::vector<std::string> fields = split(std::string_view(text).substr(after_name + 2), ' ');
    if (fields.size() < 20 || fields[0] == "Z" || fields[0] == "X") return 0;
    return static_cast<std::uint64_t>(parseInteger(fields[19]).value_or(0));
}

}  // namespace

std::string stateName(RunState state) {
    return kStateNames.at(static_cast<std::size_t>(state));
}

std::string thisHost() {
    static const std::string host = hostName();
    return host;
}

double secondsSinceEpoch() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void writeStatus(const std::filesystem::path& path, const Status& status, Durability durability) {
    const nlohmann::ordered_json json = {
        {"state", stateName(status.state)},
        {"step", status.step},
        {"steps", status.steps},
        {"pid", status.pid},
        {"process_start", status.process_start},
        {"host", status.host},
        {"boot_id", status.boot_id},
        {"heartbeat", status.heartbeat},
        {"device", status.device},
        {"control", status.control},
        {"exit_code", status.exit_code},
        {"error", status.error},
    };
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    writeFileAtomically(path, json.dump(2, ' ', false, replace) + "\n", durability);
}

/// A whole number; `missing` if it is not there. A conversion of 4e31 would be undefined.
static std::int64_t wholeOf(const nlohmann::json& json, const char* key,
                            std::optional<std::int64_t> missing) {
    if (missing && !json.contains(key)) return *missing;
    const nlohmann::json& value = json.at(key);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= kMost);
    if (!fits)
        throw Error(ErrorKind::usage,
                    std::string("\"") + key + "\" must be a whole number, not " + value.dump().substr(0, 60));
    return value.get<std::int64_t>();
}

Status readStatus(const std::filesystem::path& path) {
    const std::string text = readFile(path);
    try {
        const auto json = nlohmann::json::parse(text);
        Status status;
        status.state = stateFromName(json.at("state").get<std::string>());
        status.step = wholeOf(json, "step", {});
        status.steps = wholeOf(json, "steps", {});
        status.pid = wholeOf(json, "pid", 0);
        status.process_start = static_cast<std::uint64_t>(wholeOf(json, "process_start", 0));
        status.host = json.value("host", "");
        status.boot_id = json.value("boot_id", "");
        status.heartbeat = json.value("heartbeat", 0.0);
        status.device = json.value("device", "");
        status.control = json.value("control", "");
        status.exit_code = static_cast<int>(std::clamp<std::int64_t>(wholeOf(json, "exit_code", 0), -1, 255));
        status.error = json.value("error", "");
        return status;
    } catch (const nlohmann::json::exception& error) {
        throw Error(ErrorKind::usage, path.string() + " is not a run's status: " + error.what());
    } catch (const Error& error) {
        throw Error(ErrorKind::usage, path.string() + " is not a run's status: " + error.what());
    }
}

void stampWithThisProcess(Status& status) {
    static const std::string boot_id = bootId();
    status.pid = ::getpid();
    status.process_start = processStart(status.pid);
    status.host = thisHost();
    status.boot_id = boot_id;
    status.heartbeat = secondsSinceEpoch();
}

bool writerIsAlive(const Status& status) {
    if (status.pid <= 0) return false;
    if (status.host != thisHost()) return secondsSinceEpoch() - status.heartbeat < kSilenceMeansGone;
    return status.boot_id == bootId() && processStart(status.pid) == status.process_start &&
           status.process_start != 0;
}

RunState trueState(const Status& status) {
    const bool claims_to_work = status.state == RunState::running || status.state == RunState::paused;
    return claims_to_work && !writerIsAlive(status) ? RunState::interrupted : status.state;
}

}  // namespace roper
