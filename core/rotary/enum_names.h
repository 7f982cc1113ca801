#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace roper {

/// The names of all values of an enumeration, in order, and its name in errors.
struct EnumNames {
    const std::vector<std::string>& (*all)();
    const char* kind;
};
/// Specialised next to each enumeration with named values.
template <class Enum>
inline constexpr EnumNames kEnumNames{nullptr, nullptr};

template <class Enum>
concept NamedEnum = (kEnumNames<Enum>.all != nullptr);

template <NamedEnum Enum>
const std::string& nameOf(Enum value) {
    return kEnumNames<Enum>.all().at(static_cast<std::size_t>(value));
}

/// @throws std::invalid_argument if no value has this name
template <NamedEnum Enum>
Enum enumFromName(const std::string& name) {
    const auto& [all, kind] = kEnumNames<Enum>;
    const std::vector<std::string>& names = all();
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<Enum>(found - names.begin());
    std::string known;
    for (const std::string& one : names)
        known += (known.empty() ? "" : ", ") + one;
    throw std::invalid_argument(std::string("unknown ") + kind + " '" + name + "'; expected one of " + known);
}

}  // namespace roper
