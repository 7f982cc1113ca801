#pragma once

#include <iostream>
#include <nlohmann/json.hpp>

namespace roper {

/// One JSON object in a line of its own on stdout; what is not UTF-8 in it becomes U+FFFD.
inline void print(const nlohmann::ordered_json& json) {
    std::cout << json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << std::endl;
}

}  // namespace roper
