#pragma once

#include <filesystem>

namespace roper {

/// Which stop signal this process has received so far.
enum class StopSignal { none, interrupt, terminate };

/// Installs handlers: the first SIGINT requests a stop and the second ends the process at once; SIGTERM
/// requests saving and releasing the machine. Loops poll `stopSignal`.
void handleStopSignals();

/// SIGTERM takes precedence over SIGINT.
StopSignal stopSignal();

/// Whether a signal has requested a stop or the release of the machine.
bool stopIsRequested();

/// To exist while the process has nothing to save. After `handleStopSignals`, a stop signal then ends the
/// process within a second, even if it is blocked indefinitely on a pipe, a file server or another process. A
/// loop that polls `stopIsRequested` within that second can end normally.
class ExitOnStopSignal {
  public:
    ExitOnStopSignal();
    ~ExitOnStopSignal();
    ExitOnStopSignal(const ExitOnStopSignal&) = delete;
    ExitOnStopSignal& operator=(const ExitOnStopSignal&) = delete;
};

/// Sets the one file, such as a socket, to be removed when `ExitOnStopSignal` ends the process; an empty path
/// means none.
void setFileToRemoveOnStop(const std::filesystem::path& path);

/// Ends the process at once, without destructors, after removing the file of `setFileToRemoveOnStop`.
[[noreturn]] void exitImmediately(int exit_code);

}  // namespace roper
