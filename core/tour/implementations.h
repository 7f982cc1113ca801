#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// A published implementation of attention that rotates values: an entry of
/// resources/value-rotation/implementations.toml, where a comment at the top explains the members.
struct Implementation {
    std::string name, version;
    int year = 0;
    std::string pairing, part;
    std::string back;  ///< how outputs rotate back: "never", "yes" or "twice"
    std::string shared_keys, cache, scaling, source;
    bool was_run = false;  ///< whether its rotation was measured; otherwise its source was read
    /// Settings of a setup that rotates like one of its heads; empty if there is no such setup, because
    /// positions are not along one axis, or not whole numbers.
    std::vector<std::pair<std::string, std::string>> settings;

    /// `setup` changed to show that head; everything but the rotation and the use of values stays the same.
    /// @throws Error (usage) for a setting that is unknown or out of bounds
    Setup applyTo(Setup setup) const;
    /// Whether `applyTo` would not change the setup; always false without settings.
    bool isShownBy(const Setup& setup) const;

    RotaryConfig rotation = {};  ///< of a setup that shows that head
};

/// @param origin  path of the file, for errors
/// @throws Error (usage) with the position, for anything missing, unknown or out of bounds
std::vector<Implementation> parseImplementations(std::string_view text, const std::string& origin);

/// The bundled implementations, in the order of docs/value-rotation.md. @throws Error
std::vector<Implementation> bundledImplementations();

}  // namespace roper
