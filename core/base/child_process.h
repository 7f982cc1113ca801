#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_path.h"

namespace roper {

/// Starts a program in a process group of its own: Ctrl-C in a terminal reaches only us, and is ours to pass
/// on.
/// @param program    path of the program
/// @param arguments  argv, its name first
/// @param standard   descriptors for its stdin, stdout and stderr; −1: it has ours
/// @return           its process id, to be waited for
/// @throws Error (other) if it cannot be started
pid_t startProcess(const std::string& program, const std::vector<std::string>& arguments,
                   const std::array<int, 3>& standard);

/// The exit code of a child that has ended; nothing while it runs. Reaps it: ask only once after its end.
std::optional<int> exitCodeIfEnded(pid_t pid);

/// Waits until children have ended; what has not after two seconds is killed with all that it has started.
void waitOrKill(std::vector<pid_t> children);

/// A descriptor from which these bytes are read, for a program's stdin. They are nowhere in a file system.
/// @throws Error (memory)
Descriptor readableFrom(std::string_view bytes);

/// What a program said until it ended.
struct ProgramResult {
    int exit_code = 0;  ///< 128 and the signal's number if a signal ended it, here as everywhere
    std::string output, errors;
};

/// A program that was started and has not ended in time: what it has done until then is not known.
class ProgramTimedOut : public Error {
  public:
    using Error::Error;
};

/// Runs a program to its end.
/// @param arguments  argv; the first is looked for in PATH
/// @throws Error (other) if it cannot be started; ProgramTimedOut if it has not ended after so many seconds:
/// then it is killed
/// @param input        what its stdin holds
/// @param environment  "NAME=value" for each variable that it has; empty: it has ours
ProgramResult runProgram(const std::vector<std::string>& arguments, double seconds,
                         std::string_view input = {}, const std::vector<std::string>& environment = {});

/// A program on a pipe: lines go to its stdin and come from its stdout. Ended with this object.
class PipedProcess {
  public:
    /// @throws Error (other) if it cannot be started
    PipedProcess(const std::string& program, const std::vector<std::string>& arguments);
    ~PipedProcess();
    PipedProcess(const PipedProcess&) = delete;
    PipedProcess& operator=(const PipedProcess&) = delete;

    /// @throws Error (other) if it has closed its stdin
    void write(const std::string& line);

    /// The next line of its stdout, without its end; nothing once it has ended.
    std::optional<std::string> read();

  private:
    std::string program_;
    pid_t pid_ = 0;
    Descriptor to_, from_;
    std::string unread_;
};

}  // namespace roper
