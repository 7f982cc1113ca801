#include "core/base/available.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "core/base/cgroup.h"

namespace roper {
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
    std::ifstream info("/proc/meminfo");
    std::string name;
    double kibibytes = 0;
    while (info >> name) {
        if (name == "MemAvailable:" && info >> kibibytes) return 1024 * kibibytes;
        std::getline(info, name);
    }
    return std::nullopt;
}

}  // namespace

std::optional<double> availableMemory() {
    std::optional<double> least;
    for (const std::optional<double>& left : {freeMemory(), cgroupMemoryAvailable(), leftOfAddressSpace()})
        if (left && (!least || *left < *least)) least = left;
    return least;
}

std::optional<double> availableDisk(const std::filesystem::path& folder) {
    std::error_code unknown;
    std::filesystem::path there = std::filesystem::absolute(folder, unknown);
    while (!unknown && !std::filesystem::exists(there, unknown) && there != there.parent_path())
        there = there.parent_path();
    const std::filesystem::space_info space = std::filesystem::space(there, unknown);
    return unknown ? std::nullopt : std::optional(static_cast<double>(space.available));
}

}  // namespace roper
