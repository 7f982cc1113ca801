#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// Load of this machine.
struct MachineLoad {
    /// Average utilization of all cores since the previous `read`, 0 to 1; empty if unknown.
    std::optional<double> cpu;
    double memory_used = 0, memory_total = 0;  ///< bytes; 0 if unknown
    struct Gpu {
        std::string name;
        std::optional<double> busy;                ///< utilization, 0 to 1; empty if unknown
        double memory_used = 0, memory_total = 0;  ///< bytes; 0 if unknown
    };
    std::vector<Gpu> gpus;
};

/// Total times of all cores in clock ticks, from the first line of /proc/stat.
struct CpuTimes {
    std::uint64_t busy = 0, all = 0;  ///< `all` includes idle time
};
/// Empty if the text is not the content of /proc/stat.
std::optional<CpuTimes> parseCpuTimes(std::string_view proc_stat);

/// The processor and its number of cores, such as "AMD EPYC, 2 cores"; only the cores if the system does not
/// report the name.
std::string machineName();
/// The name of the processor; empty if the system does not report it.
std::string processorName();
/// @param proc_cpuinfo  the content of /proc/cpuinfo
std::string parseProcessorName(std::string_view proc_cpuinfo);

/// Reads /proc and, if NVIDIA's driver is installed, queries each GPU through NVML.
class MachineLoadReader {
  public:
    MachineLoadReader() = default;
    ~MachineLoadReader();
    MachineLoadReader(const MachineLoadReader&) = delete;
    MachineLoadReader& operator=(const MachineLoadReader&) = delete;

    /// The current load; for the cores, the average since the previous call.
    MachineLoad read();

  private:
    void openNvml();
    void readGpus(MachineLoad& load) const;

    std::optional<CpuTimes> last_;
    bool tried_nvml_ = false;
    void* nvml_ = nullptr;  ///< handle of the library; null if there is none
};

}  // namespace roper
