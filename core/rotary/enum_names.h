#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace roper {

/// An enumeration's name in error messages, and the names of its values in order of declaration.
template <std::size_t count>
struct EnumNames {
    const char* kind;
    const char* values[count];
};
/// Specialized next to each enumeration whose values have names.
template <class Enum>
inline constexpr auto kEnumNames = nullptr;

template <class Enum>
concept NamedEnum = !std::is_null_pointer_v<std::remove_const_t<decltype(kEnumNames<Enum>)>>;

/// The names of all values of an enumeration, in order of declaration.
template <NamedEnum Enum>
const std::vector<std::string>& allNames() {
    static const std::vector<std::string> names(std::begin(kEnumNames<Enum>.values),
                                                std::end(kEnumNames<Enum>.values));
    return names;
}

template <NamedEnum Enum>
const std::string& nameOf(Enum value) {
    return allNames<Enum>().at(static_cast<std::size_t>(value));
}

/// @throws std::invalid_argument if no value has this name
template <NamedEnum Enum>
Enum enumFromName(const std::string& name) {
    const std::vector<std::string>& names = allNames<Enum>();
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<Enum>(found - names.begin());
    std::string known;
    for (const std::string& one : names)
        known += (known.empty() ? "" : ", ") + one;
    throw std::invalid_argument(std::string("unknown ") + kEnumNames<Enum>.kind + " '" + name +
                                "'; expected one of " + known);
}

}  // namespace roper
