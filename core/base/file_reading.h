#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/file_path.h"

namespace roper {

/// What a file may hold if nothing else is said, in bytes. What is larger is none of ours.
inline constexpr std::uint64_t kMostBytes = 64U << 20U;

/// The whole content of a file.
/// @param most_bytes  a larger file is refused before it is read
/// @throws Error (disk) naming the path
std::string readFile(const FilePath& path, std::uint64_t most_bytes = kMostBytes);

/// Reads from a place of an open file, `into` full or up to its end. @returns the bytes read
/// @throws Error (disk) naming the path
std::size_t readAt(const Descriptor& file, std::span<char> into, std::uint64_t place,
                   const std::string& path);

/// Bytes of a file, and of one that is open. @throws Error (disk) naming the path
std::uint64_t fileSize(const FilePath& path);
std::uint64_t fileSize(const Descriptor& file, const std::string& path);

/// The last bytes of a file; nothing if it is not there. Files of any size are read in the same time.
/// @throws Error (disk) naming the path
std::string readEnd(const FilePath& path, std::size_t most_bytes);

/// Hands out the content of a file in parts. @throws Error (disk) naming the path
void forEachPart(const FilePath& path, const std::function<void(std::string_view)>& take);

/// Reads a file line by line in memory that does not depend on its size.
class LineReader {
  public:
    static constexpr std::size_t kLongestLine = 1U << 20U;

    /// What a last line without an end is: one that is being written, or one like the others.
    enum class LastLine { unfinished, whole };
    /// What becomes of a line that is longer than `kLongestLine`: an error, or its beginning is handed out,
    /// also where the file ends in it. More than `kMostBytes` are an error in any case.
    enum class Overlong { refused, cut };

    /// A missing file has no lines. @throws Error (disk)
    explicit LineReader(const FilePath& path, LastLine last = LastLine::unfinished,
                        Overlong overlong = Overlong::refused);

    /// The next line without its end; nothing after the last. An unfinished one is not handed out. The view
    /// holds until the next call.
    /// @throws Error (disk), also for a line that is too long
    std::optional<std::string_view> next();

    std::size_t number() const { return number_; }  ///< of the line handed out last, from 1

  private:
    bool fill();
    std::string_view cutLine();

    std::string path_;
    LastLine last_;
    Overlong overlong_;
    Descriptor file_;
    std::string buffer_, cut_;
    std::size_t begin_ = 0, number_ = 0;
};

/// The last whole line of a file that is not empty; nothing if there is none.
/// @throws Error (disk), also for a line that is longer than `LineReader::kLongestLine`
std::optional<std::string> lastLine(const FilePath& path);

}  // namespace roper
