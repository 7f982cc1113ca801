#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roper {

/// From here on, a signal that a mistake in this program or a library sends it (SIGSEGV, SIGBUS, SIGILL,
/// SIGFPE, SIGABRT) is written into a log as a line that `crashIn` finds, before it ends the process as it
/// would have anyway.
/// @param log  open for appending as long as the process lives; −1 ends it
/// Programs that are built with sanitizers leave this to them.
void reportCrashesTo(int log);

/// What a log says about a crash of a process, such as "SIGSEGV: it tried to access memory that it must not
/// use"; nothing if it does not.
/// @param log    text of a log, or the end of one
/// @param start  `processStart`, since a process id may be used again
std::optional<std::string> crashIn(std::string_view log, std::int64_t pid, std::uint64_t start);

/// "SIGKILL" and the like; "signal 42" for one without a name here.
std::string signalName(int signal);

}  // namespace roper
