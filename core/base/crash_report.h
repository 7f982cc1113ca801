#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roper {

/// From now on, a fatal signal caused by a bug in this program or a library (SIGSEGV, SIGBUS, SIGILL, SIGFPE,
/// SIGABRT) is first logged as a line that `findCrash` finds, and then ends the process as usual. Programs
/// built with sanitizers leave these signals to the sanitizer.
/// @param log  descriptor open for appending for the lifetime of the process; −1 turns reporting off
void reportCrashesTo(int log);

/// The crash of a process as described in a log, such as "SIGSEGV: invalid memory access"; empty if there is
/// none.
/// @param log    text of a log, or the end of one
/// @param start  start of the process (`processStart` of core/base), since process ids are reused
std::optional<std::string> findCrash(std::string_view log, std::int64_t pid, std::uint64_t start);

/// Name of a signal, such as "SIGKILL"; "signal 42" for a signal without a name here.
std::string signalName(int signal);

}  // namespace roper
