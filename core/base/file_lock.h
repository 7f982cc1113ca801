#pragma once

#include <filesystem>
#include <functional>

namespace roper {

/// The exclusive lock (flock) of a file, which is made if it is not there. It ends with the object or with
/// the process.
class FileLock {
  public:
    /// Waits for whoever holds it.
    /// @param goes_on  called ten times a second while it waits; without it, nothing ends the waiting
    /// @throws Error (disk) if the file cannot be made, or cannot be locked at all
    explicit FileLock(const std::filesystem::path& path, const std::function<bool()>& goes_on = {});
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

    /// False if `goes_on` said no.
    bool held() const { return held_; }

  private:
    int descriptor_ = -1;
    bool held_ = false;
};

}  // namespace roper
