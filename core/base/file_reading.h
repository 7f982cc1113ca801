#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/file_path.h"

namespace roper {

/// Default limit for the size of a file, in bytes. None of our own files is larger.
inline constexpr std::uint64_t kMaxFileBytes = 64U << 20U;

/// The whole content of a file.
/// @param max_bytes  larger files are refused before they are read
/// @throws Error (disk) naming the path
std::string readFile(const FilePath& path, std::uint64_t max_bytes = kMaxFileBytes);

/// Reads from an offset of an open file until `into` is full or the file ends. @returns the bytes read
/// @throws Error (disk) naming the path
std::size_t readAt(const Descriptor& file, std::span<char> into, std::uint64_t offset,
                   const std::string& path);

/// Size in bytes of a file, given by path or descriptor. @throws Error (disk) naming the path
std::uint64_t fileSize(const FilePath& path);
std::uint64_t fileSize(const Descriptor& file, const std::string& path);

/// The last bytes of a file; empty if the file is missing. The time does not depend on the size of the file.
/// @throws Error (disk) naming the path
std::string readEnd(const FilePath& path, std::size_t max_bytes);

/// Calls `consume` with the content of a file in parts. @throws Error (disk) naming the path
void forEachPart(const FilePath& path, const std::function<void(std::string_view)>& consume);

/// Reads a file line by line, with memory independent of its size.
class LineReader {
  public:
    static constexpr std::size_t kMaxLineBytes = 1U << 20U;

    /// How to treat a last line without a newline: as still being written, or like the others.
    enum class LastLine { unfinished, whole };
    /// How to treat a line longer than `kMaxLineBytes`: as an error, or by returning its beginning, even if
    /// the file ends in it. A line of more than `kMaxFileBytes` is always an error.
    enum class OverlongLine { refused, truncated };

    /// A missing file is read as empty. @throws Error (disk)
    explicit LineReader(const FilePath& path, LastLine last = LastLine::unfinished,
                        OverlongLine overlong = OverlongLine::refused);

    /// The next line without its newline; empty after the last. An unfinished line is not returned. The view
    /// is valid until the next call.
    /// @throws Error (disk), also for a line that is too long
    std::optional<std::string_view> next();

    std::size_t number() const { return number_; }  ///< of the last returned line, from 1

  private:
    bool fill();
    std::string_view truncateLine();

    std::string path_;
    LastLine last_;
    OverlongLine overlong_;
    Descriptor file_;
    std::string buffer_, cut_;            ///< bytes read; the beginning of a truncated line
    std::size_t begin_ = 0, number_ = 0;  ///< of the next line in `buffer_`; of the last returned line
};

/// The last complete line of a file that is not blank; empty if there is none.
/// @throws Error (disk), also for a line longer than `LineReader::kMaxLineBytes`
std::optional<std::string> lastLine(const FilePath& path);

}  // namespace roper
