#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace roper {

/// Starts a program in a process group of its own: Ctrl-C in a terminal reaches only us, and is ours to pass
/// on.
/// @param program    path of the program
/// @param arguments  its name, as it will be shown, and what comes after
/// @param standard   descriptors for its standard input, output and messages; −1 leaves it ours
/// @return           its process id, to be waited for
/// @throws Error (other) if it cannot be started
pid_t startProcess(const std::string& program, const std::vector<std::string>& arguments,
                   const std::array<int, 3>& standard);

/// A program that is spoken to line by line, through its standard input and output. Ended with this object.
class ConversingProcess {
  public:
    /// @throws Error (other) if it cannot be started
    ConversingProcess(const std::string& program, const std::vector<std::string>& arguments);
    ~ConversingProcess();
    ConversingProcess(const ConversingProcess&) = delete;
    ConversingProcess& operator=(const ConversingProcess&) = delete;

    /// @throws Error (other) if it no longer listens
    void write(const std::string& line);

    /// The next line it says, without its end; nothing once it has ended.
    std::optional<std::string> read();

  private:
    std::string program_;
    pid_t pid_ = 0;
    int to_ = -1, from_ = -1;
    std::string unread_;
};

}  // namespace roper
