#include "core/base/machine_load.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {
namespace {

/// A function of NVML; null if the library does not have it.
template <class Function>
Function* symbol(void* library, const char* name) {
    return reinterpret_cast<Function*>(::dlsym(library, name));
}

// The required declarations of NVML's header.
using NvmlDevice = void*;
struct NvmlUtilization {
    unsigned gpu, memory;  // percent
};
struct NvmlMemory {
    unsigned long long total, free, used;  // bytes
};
constexpr int kNvmlSuccess = 0;

}  // namespace

std::optional<CpuTimes> parseCpuTimes(std::string_view proc_stat) {
    constexpr std::string_view kBegin = "cpu ";
    if (!proc_stat.starts_with(kBegin)) return std::nullopt;
    // Fields: user nice system idle iowait irq softirq steal; guest times are included in user.
    constexpr std::size_t kIdle = 3, kWaiting = 4, kCounted = 8;
    CpuTimes times;
    std::istringstream fields{std::string(proc_stat.substr(kBegin.size()))};
    std::size_t field = 0;
    for (std::uint64_t ticks = 0; field < kCounted && fields >> ticks; ++field) {
        times.all += ticks;
        if (field != kIdle && field != kWaiting) times.busy += ticks;
    }
    return field > kIdle ? std::optional(times) : std::nullopt;
}

std::string parseProcessorName(std::string_view proc_cpuinfo) {
    for (const std::string& line : split(proc_cpuinfo, '\n')) {
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos && trimmed(line.substr(0, colon)) == "model name")
            return trimmed(line.substr(colon + 1));
    }
    return {};
}

std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    const std::string info{std::istreambuf_iterator<char>(file), {}};
    return parseProcessorName(info);
}

std::string machineName() {
    const std::string processor = processorName();
    const std::string cores = countOf(std::max(1U, std::thread::hardware_concurrency()), "core");
    return processor.empty() ? cores : processor + ", " + cores;
}

/// Called by the first `read`, not by the constructor, since the driver takes a moment to respond.
void MachineLoadReader::openNvml() {
    tried_nvml_ = true;
    nvml_ = ::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (nvml_ == nullptr) return;
    const auto init = symbol<int()>(nvml_, "nvmlInit_v2");
    if (init != nullptr && init() == kNvmlSuccess) return;
    ::dlclose(nvml_);
    nvml_ = nullptr;
}

MachineLoadReader::~MachineLoadReader() {
    if (nvml_ == nullptr) return;
    if (const auto shutdown = symbol<int()>(nvml_, "nvmlShutdown")) shutdown();
    ::dlclose(nvml_);
}

MachineLoad MachineLoadReader::read() {
    if (!tried_nvml_) openNvml();
    MachineLoad load;
    const auto now = parseCpuTimes(readFirstLine("/proc/stat"));
    if (now && last_ && now->all > last_->all && now->busy >= last_->busy)
        load.cpu = static_cast<double>(now->busy - last_->busy) / static_cast<double>(now->all - last_->all);
    last_ = now;
    const auto bytesOf = [](std::string_view name) {
        constexpr double kKibibyte = 1024;
        return kKibibyte * readNumberAfter(name, "/proc/meminfo").value_or(0);
    };
    load.memory_total = bytesOf("MemTotal:");
    load.memory_used = load.memory_total - bytesOf("MemAvailable:");
    readGpus(load);
    return load;
}

void MachineLoadReader::readGpus(MachineLoad& load) const {
    if (nvml_ == nullptr) return;
    const auto count = symbol<int(unsigned*)>(nvml_, "nvmlDeviceGetCount_v2");
    const auto handle = symbol<int(unsigned, NvmlDevice*)>(nvml_, "nvmlDeviceGetHandleByIndex_v2");
    const auto name = symbol<int(NvmlDevice, char*, unsigned)>(nvml_, "nvmlDeviceGetName");
    const auto busy = symbol<int(NvmlDevice, NvmlUtilization*)>(nvml_, "nvmlDeviceGetUtilizationRates");
    const auto memory = symbol<int(NvmlDevice, NvmlMemory*)>(nvml_, "nvmlDeviceGetMemoryInfo");
    unsigned gpus = 0;
    if (!count || !handle || !name || !busy || !memory || count(&gpus) != kNvmlSuccess) return;
    for (unsigned i = 0; i < gpus; ++i) {
        NvmlDevice device = nullptr;
        std::array<char, 96> title{};  // size required by NVML
        NvmlUtilization used{};
        NvmlMemory bytes{};
        if (handle(i, &device) != kNvmlSuccess || name(device, title.data(), title.size()) != kNvmlSuccess)
            continue;
        MachineLoad::Gpu gpu{title.data(), {}, 0, 0};
        // For a partitioned GPU (MIG), the utilization of the whole is not available.
        if (busy(device, &used) == kNvmlSuccess) gpu.busy = std::min(1.0, used.gpu / 100.0);
        if (memory(device, &bytes) == kNvmlSuccess) {
            gpu.memory_used = static_cast<double>(bytes.used);
            gpu.memory_total = static_cast<double>(bytes.total);
        }
        load.gpus.push_back(std::move(gpu));
    }
}

}  // namespace roper
