#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace roper {

/// The version of RoPER Lab, such as "0.1.0".
std::string programVersion();

/// The commit that this program was built from, with "-dirty" where files had been changed; empty where that
/// is not known. A program says its own at its start: so only that one is built anew with every commit.
const std::string& programCommit();
void setProgramCommit(const std::string& commit);

/// The first line of a file such as those of /proc; empty if it cannot be read.
std::string firstLineOf(const std::filesystem::path& path);

/// The number behind a name at the beginning of a line of such a file; 0 if there is none.
double numberBehind(std::string_view name, const std::filesystem::path& path);

/// The name of this machine, or of the container that the program runs in.
std::string thisHost();

/// Names the time since this machine was started; containers of a machine share it. Empty if the system does
/// not say.
std::string thisBoot();

/// When this machine was started, in seconds since 1970, UTC; 0 if the system does not say.
double bootTime();

/// Names the process ids that this program can see: those of another container are others.
std::string thisPidNamespace();

/// Start time of a process in clock ticks since boot, so that an id used again is told apart; 0 if there is
/// no such process, or if it has ended and only its exit code is left.
std::uint64_t processStart(std::int64_t pid);

/// Whether the process of this id and `processStart` is there and suspended: by SIGSTOP, by Ctrl+Z in its
/// terminal, or by a debugger.
bool isSuspended(std::int64_t pid, std::uint64_t start);

/// How many processes this system has ended since it was started because memory ran out; 0 if it does not
/// say.
std::int64_t processesEndedForMemory();

double secondsSinceEpoch();

/// A variable of the environment; empty if it is not set.
std::string environmentVariable(const std::string& name);

/// A write into a pipe that nobody reads any more, or beyond a limit of file size, ends a program without a
/// word. After this it fails like any other write, and is reported.
void letWritesFail();

}  // namespace roper
