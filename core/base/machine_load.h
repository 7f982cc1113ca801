#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// How busy this machine is, as the system says. What it does not say is not there.
struct MachineLoad {
    std::optional<double> cpu;                 ///< share of all cores, 0 to 1, since the reading before
    double memory_used = 0, memory_total = 0;  ///< bytes; 0 if not known
    struct Gpu {
        std::string name;
        std::optional<double> busy;                ///< share of the time, 0 to 1
        double memory_used = 0, memory_total = 0;  ///< bytes; 0 if not known
    };
    std::vector<Gpu> gpus;
};

/// Times of all cores together in clock ticks, from the first line of /proc/stat.
struct CpuTimes {
    std::uint64_t busy = 0, all = 0;
};
/// Empty if this is not the content of /proc/stat.
std::optional<CpuTimes> parseCpuTimes(std::string_view proc_stat);

/// The processor and how many cores this program may use: "AMD EPYC, 2 cores". Without the name where the
/// system does not say.
std::string machineName();
/// The processor alone; empty where the system does not say.
std::string processorName();
/// @param proc_cpuinfo  the content of /proc/cpuinfo
std::string processorIn(std::string_view proc_cpuinfo);

/// Reads /proc and, where NVIDIA's driver is, what its library NVML says of each GPU.
class MachineLoadReader {
  public:
    MachineLoadReader() = default;
    ~MachineLoadReader();
    MachineLoadReader(const MachineLoadReader&) = delete;
    MachineLoadReader& operator=(const MachineLoadReader&) = delete;

    /// The present load; of the cores since the call before.
    MachineLoad read();

  private:
    void openNvml();
    void readGpus(MachineLoad& load) const;

    std::optional<CpuTimes> last_;
    bool looked_for_nvml_ = false;
    void* nvml_ = nullptr;  ///< the open library; null where there is none
};

}  // namespace roper
