#pragma once

#include <stdlib.h>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace roper {

/// A temporary folder for one test, removed by the destructor.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "roper-test-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

/// A separate store, for one test, of what the program remembers about its user.
class IsolatedUserState {
  public:
    IsolatedUserState() {
        if (const char* value = std::getenv("XDG_STATE_HOME")) before_ = value;
        ::setenv("XDG_STATE_HOME", folder_.path().c_str(), 1);
    }
    ~IsolatedUserState() {
        if (before_)
            ::setenv("XDG_STATE_HOME", before_->c_str(), 1);
        else
            ::unsetenv("XDG_STATE_HOME");
    }
    IsolatedUserState(const IsolatedUserState&) = delete;
    IsolatedUserState& operator=(const IsolatedUserState&) = delete;

    std::filesystem::path path() const { return folder_ / "roper-lab"; }

  private:
    TemporaryFolder folder_;
    std::optional<std::string> before_;
};

}  // namespace roper
