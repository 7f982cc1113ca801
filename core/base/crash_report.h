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

/// What the last line of a log says about a crash of this process, such as "SIGSEGV: it tried to access
/// memory that it must not use"; nothing if it is about anything else: then another trainer has been at work
/// since.
/// @param log  text of a log, or the end of one
std::optional<std::string> crashIn(std::string_view log, std::int64_t pid);

/// "SIGKILL" and the like; "signal 42" for one without a name here.
std::string signalName(int signal);

}  // namespace roper
