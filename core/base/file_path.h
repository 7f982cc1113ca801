#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace roper {

/// Path of a file, with the degree to which it is trusted.
///
/// A path given by the user is followed wherever it leads. A path `inside` a folder of possibly foreign
/// origin, such as a runs folder, is confined: below that folder no symbolic link is followed, and only
/// regular files are opened. A `regular` path is only for reading: links are followed, since caches of
/// published models consist of them, but only to regular files. Pipes, devices and sockets are then not
/// opened, since opening them may have side effects or block forever.
class FilePath {
  public:
    FilePath(std::filesystem::path path) : path_(std::move(path)) {}
    FilePath(const std::string& path) : path_(path) {}
    FilePath(const char* path) : path_(path) {}

    /// @throws std::invalid_argument if `name` leads out of the folder (absolute, or with "..")
    static FilePath inside(const std::filesystem::path& folder, const std::filesystem::path& name);

    /// A file to be read, or a folder of such files: for files of foreign origin such as published models,
    /// and for files that are read more than once.
    static FilePath regular(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::string string() const { return path_.string(); }
    bool isConfined() const { return confined_; }
    bool isRegularOnly() const { return regular_only_; }

    /// A file in this folder, with the same confinement.
    FilePath operator/(const std::filesystem::path& name) const;
    FilePath parent() const;

    /// Of a confined path: the folder below which no link is followed, and the names that follow it.
    const std::filesystem::path& root() const { return root_; }
    const std::vector<std::string>& names() const { return names_; }

  private:
    std::filesystem::path path_;
    bool confined_ = false, regular_only_ = false;
    std::filesystem::path root_;
    std::vector<std::string> names_;
};

/// A file descriptor, closed by the destructor.
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

/// open(2) with close-on-exec.
/// @param mode  permissions of a new file, before the umask
/// @throws Error (disk) naming the path, and its type if it is not a regular file
Descriptor openFile(const FilePath& path, int flags, mode_t mode = 0666);

/// The same, but returns an empty descriptor if there is no such file.
Descriptor openFileIfExists(const FilePath& path, int flags);

/// The folder that contains a file, for the *at functions. @throws Error (disk)
Descriptor openFolderOf(const FilePath& path);

/// Whether a file, a folder or a link, even a dangling one, has this name.
/// @throws Error (disk) if that cannot be determined
bool pathExists(const FilePath& path);

/// The names in a folder, sorted; none if the folder is missing. Links are included.
/// @throws Error (disk) if it cannot be read
std::vector<std::string> listFolder(const FilePath& folder);

/// @throws Error (disk)
void removeFile(const FilePath& path);

/// Creates a folder and its missing ancestors. @throws Error (disk)
void makeFolder(const FilePath& folder);

}  // namespace roper
