#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/file_path.h"

namespace roper {

/// Prints a message for the user on its own line of stderr. Control characters, which might come from a file,
/// are replaced by blanks.
void reportToUser(std::string_view text);

/// Filters terminal control characters out of everything written to std::cout and std::cerr during its
/// lifetime, since names, keys and notes come from files of any origin. To be created once, in `main`.
class TerminalOutputFilter {
  public:
    TerminalOutputFilter();
    ~TerminalOutputFilter();
    TerminalOutputFilter(const TerminalOutputFilter&) = delete;
    TerminalOutputFilter& operator=(const TerminalOutputFilter&) = delete;

  private:
    class Filter;
    std::unique_ptr<Filter> out_, err_;
};

/// Unfiltered stderr, for progress bars, which move the cursor.
std::ostream& terminal();

/// Returns the exit code for `main`: the result of `work`, or the exit code of the error that it throws,
/// which is printed on a line that begins with the program's name. Failing to write standard output (disk
/// full) is also an error.
int runReportingErrors(const std::string& program, const std::function<int()>& work);

/// Flushes std::cout. A reader that has closed the pipe, or a stdout that was closed from the start, is not a
/// failure.
/// @throws Error (disk) if the output cannot be written, for example to a full disk
void flushStdout();

/// Ends the process when the reader of its standard output, a pipe or a socket, has closed it: for commands
/// whose only result is their output. A reader that stops early, as in `… | head`, is not a failure.
class ExitOnClosedOutput {
  public:
    ExitOnClosedOutput();
    ~ExitOnClosedOutput();
    ExitOnClosedOutput(const ExitOnClosedOutput&) = delete;
    ExitOnClosedOutput& operator=(const ExitOnClosedOutput&) = delete;

  private:
    Descriptor wake_;  ///< eventfd that ends the watching thread
    std::thread watcher_;
};

}  // namespace roper
