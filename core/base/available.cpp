#include "core/base/available.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

/// Memory left below the limit of `ulimit -v`.
std::optional<double> leftOfAddressSpace() {
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    double pages = 0;
    if (!(std::ifstream("/proc/self/statm") >> pages)) return std::nullopt;
    return std::max(
        0.0, static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

std::optional<double> freeMemory() {
    const auto kibibytes = readNumberAfter("MemAvailable:", "/proc/meminfo");
    return kibibytes ? std::optional(1024 * *kibibytes) : std::nullopt;
}

/// The number at the beginning of a file; empty if there is none, as in "max".
std::optional<double> numberIn(const fs::path& path) {
    std::ifstream file(path);
    double number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

/// The folders of a control group and its ancestors, up to the root of its tree.
std::vector<fs::path> upwards(const fs::path& tree, const std::string& group) {
    std::vector<fs::path> folders{tree};
    for (const fs::path& part : fs::path(group).relative_path()) {
        if (part == "..") return {tree};  // outside the visible tree
        folders.push_back(folders.back() / part);
    }
    return folders;
}

/// The folders that may contain a controller's files.
/// @param controller  "cpu" or "memory" for v1; empty for v2, which has one tree for all
std::vector<fs::path> foldersOf(std::string_view controller, const fs::path& root) {
    const fs::path trees = root / "sys/fs/cgroup";
    std::vector<fs::path> folders;
    const auto add = [&](const fs::path& tree, const std::string& group) {
        const std::vector<fs::path> more = upwards(tree, group);
        folders.insert(folders.end(), more.begin(), more.end());
    };
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/path" or "0::/path"
        const std::vector<std::string> fields = split(line, ':');
        if (fields.size() < 3) continue;
        const std::string group = line.substr(fields[0].size() + fields[1].size() + 2);
        const std::vector<std::string> controllers = split(fields[1], ',');
        if (controller.empty() && fields[1].empty()) {
            add(trees, group);
            add(trees / "unified", group);
        } else if (!controller.empty() && hasElement(controllers, controller)) {
            add(trees / fields[1], group);
            add(trees / controller, group);
        }
    }
    return folders;
}

void lower(std::optional<double>& least, double to) {
    if (!least || to < *least) least = to;
}

/// Bytes left below a limit. The page cache can be reclaimed, so it does not count as used.
double leftOf(double most, double used, double page_cache) {
    return std::max(0.0, most - used + page_cache);
}

/// Number of cores on which this process may run (CPU affinity).
std::optional<double> coresAllowedHere() {
    // A machine may have more cores than the default cpu_set_t can hold.
    for (std::size_t cores = CPU_SETSIZE; cores <= (std::size_t{1} << 20U); cores *= 2) {
        cpu_set_t* set = CPU_ALLOC(cores);
        if (set == nullptr) return std::nullopt;
        const std::size_t size = CPU_ALLOC_SIZE(cores);
        const bool known = ::sched_getaffinity(0, size, set) == 0;
        const int count = known ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (known) return count > 0 ? std::optional<double>(count) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<double> availableMemory() {
    std::optional<double> least;
    for (const std::optional<double>& left : {freeMemory(), cgroupMemoryAvailable(), leftOfAddressSpace()})
        if (left) lower(least, *left);
    return least;
}

std::optional<double> availableDisk(const fs::path& folder) {
    std::error_code unknown;
    fs::path there = fs::absolute(folder, unknown);
    while (!unknown && !fs::exists(there, unknown) && there != there.parent_path())
        there = there.parent_path();
    const fs::space_info space = fs::space(there, unknown);
    return unknown ? std::nullopt : std::optional(static_cast<double>(space.available));
}

std::optional<double> cgroupCpuQuota(const fs::path& root) {
    std::optional<double> least;
    for (const fs::path& group : foldersOf("", root)) {
        std::ifstream file(group / "cpu.max");  // "50000 100000", or "max 100000"
        double quota = 0, period = 0;
        if (file >> quota >> period && quota > 0 && period > 0) lower(least, quota / period);
    }
    for (const fs::path& group : foldersOf("cpu", root)) {
        const auto quota = numberIn(group / "cpu.cfs_quota_us"),
                   period = numberIn(group / "cpu.cfs_period_us");
        if (quota && period && *quota > 0 && *period > 0) lower(least, *quota / *period);  // −1: none
    }
    return least;
}

std::optional<double> cgroupMemoryAvailable(const fs::path& root) {
    std::optional<double> least;
    for (const fs::path& group : foldersOf("", root)) {
        const auto most = numberIn(group / "memory.max"), used = numberIn(group / "memory.current");
        if (most && used)
            lower(least,
                  leftOf(*most, *used, readNumberAfter("inactive_file", group / "memory.stat").value_or(0)));
    }
    constexpr double kNone = 0x1p62;  // without a limit, v1 reports nearly 2^63 bytes
    for (const fs::path& group : foldersOf("memory", root)) {
        const auto most = numberIn(group / "memory.limit_in_bytes"),
                   used = numberIn(group / "memory.usage_in_bytes");
        if (most && used && *most < kNone)
            lower(least, leftOf(*most, *used,
                                readNumberAfter("total_inactive_file", group / "memory.stat").value_or(0)));
    }
    return least;
}

int usableCores() {
    double cores = std::max(1U, std::thread::hardware_concurrency());
    for (const std::optional<double>& limit : {coresAllowedHere(), cgroupCpuQuota()})
        if (limit) cores = std::min(cores, *limit);
    return std::max(1, static_cast<int>(std::lround(cores)));
}

}  // namespace roper
