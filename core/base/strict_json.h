#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace roper {

/// Parses JSON and refuses what the library would let pass: an object that has a key twice, and values nested
/// so deeply that who walks through them would run out of stack.
/// @throws std::invalid_argument saying what is wrong
nlohmann::json parseStrictJson(std::string_view text, int most_depth = 32);

}  // namespace roper
