#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace roper {

/// Where a file is, and how far it is trusted.
///
/// A path that a person named is followed wherever it leads. What is `inside` a folder that may come from
/// somebody else, such as a runs folder, is confined: below that folder no symbolic link is followed, and
/// nothing but a regular file is opened. What is `regular` is only read: links are followed, since a cache of
/// published models consists of them, but only to regular files. A pipe, a device or a socket that stands in
/// the place of one is not opened, since that may have an effect or wait for ever.
class FilePath {
  public:
    FilePath(std::filesystem::path path) : path_(std::move(path)) {}
    FilePath(const std::string& path) : path_(path) {}
    FilePath(const char* path) : path_(path) {}

    /// @throws std::invalid_argument if `name` leads out of the folder (absolute, or with "..")
    static FilePath inside(const std::filesystem::path& folder, const std::filesystem::path& name);

    /// A file to be read, or a folder of such files: for what others have made, as published models, and for
    /// what is read more than once.
    static FilePath regular(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::string string() const { return path_.string(); }
    bool isConfined() const { return confined_; }
    bool isRegularOnly() const { return regular_only_; }

    /// A file in this folder, as confined as the folder is.
    FilePath operator/(const std::filesystem::path& name) const;
    FilePath parent() const;

    /// The folder below which no link is followed, and the names from there on.
    const std::filesystem::path& root() const { return root_; }
    const std::vector<std::string>& names() const { return names_; }

  private:
    std::filesystem::path path_;
    bool confined_ = false, regular_only_ = false;
    std::filesystem::path root_;
    std::vector<std::string> names_;
};

/// A file descriptor, closed with the object.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    int number() const { return number_; }
    /// Releases the descriptor; the caller closes it.
    int release() { return std::exchange(number_, -1); }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_ = -1;
};

/// open(2), without the descriptor being inherited by programs that are started.
/// @param mode  of a file that is made, before the umask
/// @throws Error (disk) naming the path, and what it is if it is no regular file
Descriptor openFile(const FilePath& path, int flags, mode_t mode = 0666);

/// The same, but an empty descriptor if there is no such file.
Descriptor openFileIfThere(const FilePath& path, int flags);

/// The folder that holds a file, to be used with the functions that end in "at". @throws Error (disk)
Descriptor openFolderOf(const FilePath& path);

/// Whether anything has this name: a file, a folder, a link wherever it leads.
/// @throws Error (disk) if that cannot be found out
bool isThere(const FilePath& path);

/// The names in a folder, sorted; none if it is missing. Links count as names.
/// @throws Error (disk) if it cannot be read: what cannot be listed may hold anything
std::vector<std::string> namesIn(const FilePath& folder);

/// @throws Error (disk)
void removeFile(const FilePath& path);

/// Creates a folder and those above it, if they are not there. @throws Error (disk)
void makeFolder(const FilePath& folder);

}  // namespace roper
