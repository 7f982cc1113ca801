#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// A published implementation of attention that rotates values: a row of
/// resources/value-rotation/implementations.toml, whose head explains the members.
struct Implementation {
    std::string name, version;
    int year = 0;
    std::string pairing, part;
    std::string back;  ///< "never", "yes", "twice"
    std::string shared_keys, cache, scaling, source;
    bool was_run = false;  ///< whether its rotation was measured; otherwise its source was read
    /// Settings of the rotation of one of its heads; empty if a setup cannot represent it, because positions
    /// are not along one axis, or not whole numbers.
    std::vector<std::pair<std::string, std::string>> settings;

    /// A setup that shows such a head; everything but the rotation and the use of values stays the same.
    /// @throws Error (usage) for a setting that is unknown or out of bounds
    Setup applyTo(Setup setup) const;
    /// Whether `applyTo` would leave the setup as it is; always false without settings.
    bool isShownBy(const Setup& setup) const;

    RotaryConfig rotation = {};  ///< of a setup that shows such a head
};

/// @param origin  path of the file, for errors
/// @throws Error (usage) with the position, for anything missing, unknown or out of bounds
std::vector<Implementation> parseImplementations(std::string_view text, const std::string& origin);

/// The bundled ones, in the order of docs/value-rotation.md. @throws Error
std::vector<Implementation> bundledImplementations();

}  // namespace roper
