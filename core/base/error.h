#pragma once

#include <stdexcept>
#include <string>

namespace roper {

/// What kind of thing went wrong. The value is the exit code of the programs.
enum class ErrorKind {
    other = 1,
    usage = 2,       ///< command line or specification
    diverged = 3,    ///< a loss or gradient that is not a number
    checkpoint = 4,  ///< a checkpoint that cannot be read or does not fit
    memory = 5,
    disk = 6,
    preempted = 75,  ///< told to end by the system; can be resumed
};

/// An error for a person: says what was wrong, where, and what to do.
class Error : public std::runtime_error {
  public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    ErrorKind kind() const { return kind_; }
    int exitCode() const { return static_cast<int>(kind_); }

  private:
    ErrorKind kind_;
};

/// A disk error made from errno: "cannot write PATH: No space left on device. …what to do".
Error diskError(const std::string& action, const std::string& path, int error_number);

}  // namespace roper
