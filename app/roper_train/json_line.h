#pragma once

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace roper {

/// One JSON object in a line of its own on stdout; what is not UTF-8 in it becomes U+FFFD, and characters
/// that control a terminal are written as \uXXXX.
inline void print(const nlohmann::ordered_json& json) {
    std::cout << escapedControls(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
              << std::endl;  // flushed: whoever reads the lines wants them now
}

}  // namespace roper
