#pragma once

#include <string>

namespace roper {

/// Where the first process of a group waits for the others.
struct Address {
    std::string host;
    int port = 0;

    /// "node3:4711".
    std::string text() const { return host + ":" + std::to_string(port); }
};

}  // namespace roper
