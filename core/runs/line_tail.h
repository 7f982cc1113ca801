#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/file_path.h"

namespace roper {

/// Follows a file of lines that another process appends to. A last line without newline is not handed out
/// until it is whole; a file that was replaced or cut is read again from its start. A file that cannot be
/// read, or has a line longer than a poll may read, has no more lines; `problem` says why.
class LineTail {
  public:
    explicit LineTail(FilePath path) : path_(std::move(path)) {}

    struct Update {
        bool restarted = false;  ///< forget the lines handed out before
        bool more = false;       ///< the file holds further whole lines; poll again
        std::vector<std::string> lines;
    };

    /// The lines added since the last call; a missing file has none. At most about `most_bytes` are read at
    /// once.
    Update poll(std::size_t most_bytes = 8U << 20U);

    /// Why the last poll could not read the file; empty if all is well.
    const std::string& problem() const { return problem_; }

  private:
    FilePath path_;
    std::string problem_;
    std::uint64_t inode_ = 0;
    std::uint64_t offset_ = 0;
};

}  // namespace roper
