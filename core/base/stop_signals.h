#pragma once

#include <filesystem>

namespace roper {

/// What signals have told this process so far.
enum class StopSignal { none, interrupt, terminate };

/// Installs handlers so that the first SIGINT asks to stop and the second ends the process at once; SIGTERM
/// asks to save and give the machine back. Loops look at `stopSignal`.
void handleStopSignals();

/// SIGTERM counts before SIGINT.
StopSignal stopSignal();

/// Whether a signal has requested to stop or to give the machine back.
bool stopIsRequested();

/// While one of these lives there is nothing to save, and after `handleStopSignals` a signal to stop ends the
/// process within a second even where it waits for something that never comes: a pipe, a file server, another
/// process. A loop that looks at `stopIsRequested` in time ends as it likes.
class StopsPromptly {
  public:
    StopsPromptly();
    ~StopsPromptly();
    StopsPromptly(const StopsPromptly&) = delete;
    StopsPromptly& operator=(const StopsPromptly&) = delete;
};

/// A file that is removed where the process ends in the way of `StopsPromptly`, such as its socket. There is
/// one; an empty path means none.
void removeAtPromptStop(const std::filesystem::path& path);

/// Ends the process as a signal to stop would where it is stuck, but with this exit code.
[[noreturn]] void endPromptly(int exit_code);

}  // namespace roper
