#pragma once

#include <filesystem>
#include <optional>

namespace roper {

// What the control group of this process, or one above it, allows: a container has one, a job of Slurm, a
// service. Both versions, v1 with a tree for each controller and v2 with one tree, as they are mounted under
// /sys/fs/cgroup; within a container the group may be the tree's own root.
// `root` is the folder that holds proc and sys.

/// How many cores' worth of time it may take, 0.5 for half of one; nothing if it has no quota.
std::optional<double> coresOfControlGroup(const std::filesystem::path& root = "/");

/// Bytes of memory that it leaves; nothing if it has no limit.
std::optional<double> memoryLeftOfControlGroup(const std::filesystem::path& root = "/");

/// How many threads can be at work at the same time: the cores of this machine, or those that this process
/// may run on (taskset, a cpuset), or what its control group's quota comes to, rounded; at least one.
int usableCores();

}  // namespace roper
