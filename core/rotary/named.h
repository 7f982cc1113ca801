#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace roper {

/// The value of an enumeration that has this name.
/// @param names  of all values, in their order
/// @param kind   of value, for the error
/// @throws std::invalid_argument if there is none
template <class Enum>
Enum valueNamed(const std::vector<std::string>& names, const std::string& name, const std::string& kind) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<Enum>(found - names.begin());
    std::string known;
    for (const std::string& one : names)
        known += (known.empty() ? "" : ", ") + one;
    throw std::invalid_argument("unknown " + kind + " '" + name + "'; known are " + known);
}

}  // namespace roper
