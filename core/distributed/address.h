#pragma once

#include <string>

namespace roper {

/// Where rank 0 of a group listens for the others.
struct Address {
    std::string host;
    int port = 0;
    std::string key = {};  ///< secret of the group, by which its processes authenticate messages

    /// "node3:4711".
    std::string text() const { return host + ":" + std::to_string(port); }
};

}  // namespace roper
