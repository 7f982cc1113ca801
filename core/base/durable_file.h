#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/file_path.h"

namespace roper {

/// Part of the name of a file that is being written. Such a file remains only if its writer was killed.
inline constexpr std::string_view kPartialMark = ".partial-";

/// The failure that data survives once the writing function has returned. Surviving a machine failure costs
/// two fsyncs.
enum class Durability { machine_failure, process_death };

/// Permissions of a new file.
enum class FilePermissions { umask_default, owner };

/// Writes through a temporary file, fsync, rename and fsync of the folder: afterwards the path holds the old
/// or the new content, and never only a part of it.
/// @throws Error (disk) naming the path; the old content is then unchanged
void writeFileAtomically(const FilePath& path, std::string_view content,
                         Durability durability = Durability::machine_failure,
                         FilePermissions permissions = FilePermissions::umask_default);

/// The same for content produced in parts: `write` is called once with a function that appends bytes.
using AppendBytes = std::function<void(std::span<const std::byte>)>;
void writeFileAtomically(const FilePath& path, const std::function<void(const AppendBytes&)>& write,
                         Durability durability = Durability::machine_failure,
                         FilePermissions permissions = FilePermissions::umask_default);

/// The bytes of a text, to append.
inline std::span<const std::byte> bytesOf(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// Copies the content of a file to another path, which may be the same. @throws Error (disk)
void copyFileAtomically(const FilePath& from, const FilePath& to);

/// The path to which output for a path given by the user is written: symbolic links are followed.
/// @throws Error (disk) if something other than a regular file exists there, since it would be replaced
std::filesystem::path outputPath(const std::filesystem::path& named);

/// Makes the entries of a folder durable. @throws Error (disk)
void syncFolder(const std::filesystem::path& folder);

/// A file opened for appending. Each line reaches the kernel in one write before `append` returns, so it
/// survives the death of the process; `sync` makes it survive a failure of the machine.
class AppendFile {
  public:
    enum class Content { lines, bytes };

    /// Opens or creates the file. With Content::lines, an incomplete last line (a torn write) is cut off. A
    /// file with other names (hard links) is copied first, so that only this one grows.
    explicit AppendFile(const FilePath& path, Content content = Content::lines);

    /// Appends `line` and a newline, or the bytes unchanged. On failure the file is restored to its previous
    /// length. @throws Error (disk) naming the path
    void append(std::string_view line);
    void sync();
    bool empty() const { return size_ == 0; }
    int descriptor() const { return file_.number(); }

  private:
    std::string path_;
    Content content_;
    Descriptor file_;
    std::uint64_t size_ = 0;
};

}  // namespace roper
