#pragma once

#include <stdexcept>
#include <string>

namespace roper {

/// Category of an error. The value is the exit code of the programs.
enum class ErrorKind {
    other = 1,
    usage = 2,       ///< command line or specification
    diverged = 3,    ///< NaN or infinity in a loss or gradient
    checkpoint = 4,  ///< an unreadable or incompatible checkpoint
    memory = 5,
    disk = 6,
    preempted = 75,  ///< asked to end by the system; can be resumed
};

/// An error to be shown to the user: what went wrong, where, and what to do.
class Error : public std::runtime_error {
  public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    ErrorKind kind() const { return kind_; }
    int exitCode() const { return static_cast<int>(kind_); }

  private:
    ErrorKind kind_;
};

/// A disk error made from errno: "cannot write PATH: No space left on device." and advice, if there is any.
Error diskError(const std::string& action, const std::string& path, int error_number);

}  // namespace roper
