#pragma once

#include <string>

namespace roper {

/// Where the first process of a group waits for the others.
struct Address {
    std::string host;
    int port = 0;
    std::string key = {};  ///< a secret of the group's processes, by which they know each other's words

    /// "node3:4711".
    std::string text() const { return host + ":" + std::to_string(port); }
};

}  // namespace roper
