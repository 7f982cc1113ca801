#include "core/base/this_process.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/base/text.h"

namespace roper {
namespace {

std::string hostName() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string targetOf(const char* link) {
    std::array<char, 256> target{};
    const ssize_t length = ::readlink(link, target.data(), target.size() - 1);
    return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

constexpr std::size_t kState = 0, kStart = 19;  // indices into `processFields`: fields 3 and 22 of proc(5)

/// The fields of /proc/PID/stat after the name; none if there is no such process.
std::vector<std::string> processFields(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::stringstream content;
    content << file.rdbuf();  // operator<< swallows the read error of a process that ends meanwhile
    const std::string text = content.str();
    const std::size_t after_name = text.rfind(')');  // the name itself may contain blanks and brackets
    if (after_name == std::string::npos || after_name + 2 > text.size()) return {};
    return split(std::string_view(text).substr(after_name + 2), ' ');
}

/// Start time in clock ticks since boot; 0 if the process has ended.
std::uint64_t startOf(const std::vector<std::string>& fields) {
    if (fields.size() <= kStart || fields[kState] == "Z" || fields[kState] == "X") return 0;
    return static_cast<std::uint64_t>(parseInteger(fields[kStart]).value_or(0));
}

}  // namespace

std::string readFirstLine(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::optional<double> readNumberAfter(std::string_view word, const std::filesystem::path& path) {
    std::ifstream file(path);
    double number = 0;
    for (std::string first, rest; file >> first; std::getline(file, rest))
        if (first == word) return file >> number ? std::optional(number) : std::nullopt;
    return std::nullopt;
}

std::string programVersion() {
    return ROPER_LAB_VERSION;
}

namespace {
std::string commit;
}

const std::string& programCommit() {
    return commit;
}

void setProgramCommit(const std::string& of_program) {
    commit = of_program;
}

std::string versionLine(const std::string& program) {
    return program + " " + programVersion() + (commit.empty() ? "" : " (" + commit + ")");
}

std::filesystem::path libraryPath(const char* library) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / library;
}

void setProcessName(const std::string& name) {
    ::prctl(PR_SET_NAME, name.c_str());
}

std::string thisHost() {
    static const std::string host = hostName();
    return host;
}

std::string thisBoot() {
    static const std::string boot = readFirstLine("/proc/sys/kernel/random/boot_id");
    return boot;
}

double bootTime() {
    return readNumberAfter("btime", "/proc/stat").value_or(0);
}

std::string thisPidNamespace() {
    static const std::string name = targetOf("/proc/self/ns/pid");
    return name;
}

std::uint64_t processStart(std::int64_t pid) {
    return startOf(processFields(pid));
}

bool isSuspended(std::int64_t pid, std::uint64_t start) {
    const std::vector<std::string> fields = processFields(pid);
    return start != 0 && startOf(fields) == start && (fields[kState] == "T" || fields[kState] == "t");
}

std::int64_t oomKillCount() {
    return static_cast<std::int64_t>(readNumberAfter("oom_kill", "/proc/vmstat").value_or(0));
}

void ignoreWriteSignals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
}

double toSeconds(const timespec& time) {
    constexpr double kNano = 1e-9;
    return static_cast<double>(time.tv_sec) + kNano * static_cast<double>(time.tv_nsec);
}

double secondsSinceEpoch() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double secondsSinceBoot() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return toSeconds(now);
}

std::string environmentVariable(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::string() : value;
}

void limitOpenMpSpinning() {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
    ::putenv(kShortOpenMpSpin);
}

void returnFreedMemory() {
    constexpr int kThreshold = 4 << 20;
    ::mallopt(M_MMAP_THRESHOLD, kThreshold);  // a fixed threshold no longer rises
}

void keepFreedHeapMemory() {
    ::mallopt(M_MMAP_THRESHOLD, kHeapThreshold);
    ::mallopt(M_TRIM_THRESHOLD, kHeapThreshold);
    ::mallopt(M_TOP_PAD, kHeapPad);
}

}  // namespace roper
