#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_path.h"

namespace roper {

/// Starts a program in its own process group, so that Ctrl-C in a terminal interrupts only this process,
/// which decides whether to signal the child.
/// @param program    path of the program
/// @param arguments  argv, beginning with the program's name
/// @param standard   descriptors for its stdin, stdout and stderr; −1: inherited
/// @return           its process id, which the caller must wait for
/// @throws Error (other) if it cannot be started
pid_t startProcess(const std::string& program, const std::vector<std::string>& arguments,
                   const std::array<int, 3>& standard);

/// The exit code of a child that has ended; empty while it runs. Reaps the child: do not call again after its
/// end.
std::optional<int> exitCodeIfEnded(pid_t pid);

/// Waits until all children have ended. Children still running after two seconds are killed with all
/// processes they started.
void waitOrKill(std::vector<pid_t> children);

/// A descriptor from which these bytes can be read, for a program's stdin. They are not stored in any file
/// system.
Descriptor inputDescriptorFor(std::string_view bytes);

/// The output of a program that has ended.
struct ProgramResult {
    int exit_code = 0;           ///< 128 plus the signal's number if a signal ended the program, as in shells
    int signal = 0;              ///< signal that ended it; 0: none
    std::string output, errors;  ///< its stdout and stderr
};

/// Thrown if a program did not end in time; what it did until then is unknown.
class ProgramTimedOut : public Error {
  public:
    using Error::Error;
};

/// Runs a program to its end.
/// @param arguments        argv; the first is looked up in PATH
/// @param input            the content of its stdin
/// @param should_continue  called several times a second; the program is killed if this returns false or
/// throws. May be empty.
/// @param environment      "NAME=value" for each of its environment variables; empty: inherited
/// @returns nothing if it was killed by `should_continue`
/// @throws Error (other) if it cannot be started
std::optional<ProgramResult> runProgramWhile(const std::function<bool()>& should_continue,
                                             const std::vector<std::string>& arguments,
                                             std::string_view input,
                                             const std::vector<std::string>& environment = {});

/// The same with a time limit.
/// @throws ProgramTimedOut if it did not end within `seconds` and was killed
ProgramResult runProgram(const std::vector<std::string>& arguments, double seconds,
                         std::string_view input = {}, const std::vector<std::string>& environment = {});

/// A running program with pipes: lines are written to its stdin and read from its stdout. The destructor ends
/// it.
class PipedProcess {
  public:
    /// @throws Error (other) if it cannot be started
    PipedProcess(const std::string& program, const std::vector<std::string>& arguments);
    ~PipedProcess();
    PipedProcess(const PipedProcess&) = delete;
    PipedProcess& operator=(const PipedProcess&) = delete;

    /// @throws Error (other) if the program has closed its stdin
    void write(const std::string& line);

    /// The next line of its stdout, without the newline; empty after the program has ended.
    std::optional<std::string> read();

  private:
    std::string program_;
    pid_t pid_ = 0;
    Descriptor to_, from_;
    std::string unread_;
};

}  // namespace roper
