#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace roper {

/// The version of RoPER Lab, such as "0.1.0".
std::string programVersion();

/// The commit that this program was built from, with "-dirty" if files had been changed; empty if unknown.
/// Each program sets it at startup, so that only one source file is compiled again after every commit.
const std::string& programCommit();
void setProgramCommit(const std::string& commit);

/// The first line of a file, for files in /proc; empty if it cannot be read.
std::string readFirstLine(const std::filesystem::path& path);

/// The number that follows a word at the beginning of a line of a file, for files in /proc and /sys, such as
/// "MemTotal:" in meminfo. Empty if there is none.
std::optional<double> readNumberAfter(std::string_view word, const std::filesystem::path& path);

/// "roper-train 0.1.0 (1a2b3c4d5e6f)", with the commit if it is known, as `--version` prints it.
std::string versionLine(const std::string& program);

/// Path of a library that is part of this program and opened on demand: in the program's own folder.
std::filesystem::path libraryPath(const char* library);

/// Sets the name of this process that ps, top and killall show; a program started as /proc/self/exe would be
/// called "exe".
void setProcessName(const std::string& name);

/// The name of this machine, or of the container in which the program runs.
std::string thisHost();

/// Identifies the current boot of this machine; containers on a machine share it. Empty if the system does
/// not report it.
std::string thisBoot();

/// Boot time of this machine, in seconds since 1970, UTC; 0 if the system does not report it.
double bootTime();

/// Identifies the namespace of process ids visible to this program; containers have their own.
std::string thisPidNamespace();

/// Start time of a process in clock ticks since boot, which distinguishes reused ids; 0 if there is no such
/// process or it is a zombie.
std::uint64_t processStart(std::int64_t pid);

/// Whether the process with this id and `processStart` exists and is suspended: by SIGSTOP, by Ctrl+Z in its
/// terminal, or by a debugger.
bool isSuspended(std::int64_t pid, std::uint64_t start);

/// Number of processes that the out-of-memory killer has ended since boot; 0 if the system does not report
/// it.
std::int64_t oomKillCount();

double toSeconds(const timespec& time);

double secondsSinceEpoch();

/// Seconds since boot, on a monotonic clock that also runs while the machine is suspended.
double secondsSinceBoot();

/// An environment variable; empty if it is not set.
std::string environmentVariable(const std::string& name);

/// Ignores SIGPIPE and SIGXFSZ: a write to a closed pipe or beyond a file size limit would end the program
/// silently. Afterwards it fails like any other write, and is reported.
void ignoreWriteSignals();

/// Threads of LibTorch's OpenMP wait for each other many times per step. By default they spin for a long
/// time, which makes training many times slower as soon as anything else needs a core; a short spin costs
/// nothing on an idle machine. This sets GOMP_SPINCOUNT, unless the user has chosen how threads wait. libgomp
/// reads it when it is loaded, so this affects only programs started from now on.
void limitOpenMpSpinning();

/// The environment variable that `limitOpenMpSpinning` adds.
inline char kShortOpenMpSpin[] = "GOMP_SPINCOUNT=3000";

/// Large tensors are allocated and freed in every step. Keeping their memory in the heap saves the kernel
/// from clearing fresh pages each time. To be called once, before the first tensor is created.
void keepFreedHeapMemory();

/// Blocks from 4 MiB on are returned to the system as soon as they are freed. glibc otherwise keeps blocks of up
/// to 32 MiB in a heap, whose gaps grow as a large model is decoded piece by piece.
void returnFreedMemory();

/// Settings of `keepFreedHeapMemory`, in bytes: blocks up to the threshold come from the heap, which keeps
/// that much when it is empty and grows by the pad.
inline constexpr int kHeapThreshold = 1 << 30, kHeapPad = 64 << 20;

}  // namespace roper
