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

/// Marks the name of a file that is being written; one that stays was left by a writer that was killed.
inline constexpr std::string_view kPartialMark = ".partial-";

/// What a write has to outlive before the writer continues. A machine's failure costs two fsyncs.
enum class Durability { machine_failure, process_death };

/// Who may read a new file.
enum class Readers { as_umask_says, owner };

/// Writes through a temporary file, fsync, rename and fsync of the folder: afterwards the path holds the old
/// content or the new, never a part. @throws Error (disk) naming the path; the old content is then still
/// there
void writeFileAtomically(const FilePath& path, std::string_view content,
                         Durability durability = Durability::machine_failure,
                         Readers readers = Readers::as_umask_says);

/// The same for content made in parts: `write` is called once with a function that appends bytes.
using AppendBytes = std::function<void(std::span<const std::byte>)>;
void writeFileAtomically(const FilePath& path, const std::function<void(const AppendBytes&)>& write,
                         Durability durability = Durability::machine_failure,
                         Readers readers = Readers::as_umask_says);

/// The bytes of a text, to append.
inline std::span<const std::byte> bytesOf(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// Writes the content of one file as another; they may be the same. @throws Error (disk)
void copyFileAtomically(const FilePath& from, const FilePath& to);

/// Where a file that a person named is to be written: a link is followed.
/// @throws Error (disk) if something is there that is no regular file: it would be replaced
std::filesystem::path outputPath(const std::filesystem::path& named);

/// Makes the entries of a folder durable. @throws Error (disk)
void syncFolder(const std::filesystem::path& folder);

/// A file that lines are appended to. Each line reaches the kernel in one write before `append` returns, so
/// it survives the death of the process; `sync` makes it survive the death of the machine.
class AppendFile {
  public:
    enum class Content { lines, bytes };

    /// Opens or creates. Of lines, a last one without its newline (a torn write) is cut off. A file that has
    /// other names (hard links) is copied first, so that only this one grows.
    explicit AppendFile(const FilePath& path, Content content = Content::lines);

    /// Appends `line` and a newline, or the bytes as they are. If that fails the file is put back to what it
    /// was. @throws Error (disk) naming the path
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
