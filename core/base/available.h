#pragma once

#include <filesystem>
#include <optional>

namespace roper {

/// Bytes of memory that this program can still allocate: the free memory of the machine, or what the limits
/// of its control group or address space leave of it. Empty if the system does not report it.
std::optional<double> availableMemory();

/// Bytes free for this user on the disk of a folder, or of its nearest existing ancestor. Empty if the system
/// does not report it.
std::optional<double> availableDisk(const std::filesystem::path& folder);

// Limits of this process's control group (cgroup) and its ancestors, as set for containers, Slurm jobs and
// services. Reads both versions (v1 with a hierarchy for each controller, v2 with a single one) as mounted
// under /sys/fs/cgroup; within a container the group may be the root of the hierarchy. `root` is the folder
// that contains proc and sys.

/// CPU quota in cores (0.5: half of a core); empty if there is none.
std::optional<double> cgroupCpuQuota(const std::filesystem::path& root = "/");

/// Bytes of memory left below the limit; empty if there is none.
std::optional<double> cgroupMemoryAvailable(const std::filesystem::path& root = "/");

/// Number of threads that can run at the same time, at least one: the cores of this machine, limited by the
/// CPU affinity of the process (taskset, cpuset) and by the quota of its control group, rounded to the
/// nearest integer.
int usableCores();

}  // namespace roper
