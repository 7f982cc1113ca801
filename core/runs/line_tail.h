#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/file_path.h"

namespace roper {

/// Follows a file to which another process appends lines. A last line without newline is returned only when
/// it is complete; a file that was replaced or truncated is read again from its start. If the file cannot be
/// read, or has a line longer than one poll may read, no more lines are returned and `problem` says why.
class LineTail {
  public:
    explicit LineTail(FilePath path) : path_(std::move(path)) {}

    struct Update {
        bool restarted = false;  ///< discard previously returned lines
        bool more = false;       ///< further complete lines are available; poll again
        std::vector<std::string> lines;
    };

    /// The lines added since the last call; none if the file is missing. Reads at most about `max_bytes` at
    /// once.
    Update poll(std::size_t max_bytes = 8U << 20U);

    /// Why the last poll failed; empty if it did not.
    const std::string& problem() const { return problem_; }

  private:
    FilePath path_;
    std::string problem_;
    std::uint64_t inode_ = 0;
    std::uint64_t offset_ = 0;
};

}  // namespace roper
