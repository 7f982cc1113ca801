#pragma once

#include <cstdlib>
#include <optional>

#include "tests/support/temporary_folder.h"

namespace roper {

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
