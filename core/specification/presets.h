#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/specification/specification.h"

namespace roper {

struct Preset {
    std::string name;  ///< file name without .toml
    std::filesystem::path path;
    Specification specification;
};

/// The folder of a kind of bundled resource ("presets"), found from the place of the running program: beside
/// it in an installation, above it in a build. @throws Error (usage) if there is none
std::filesystem::path resourceFolder(const std::string& kind);

/// Names of the bundled presets, sorted.
std::vector<std::string> presetNames();

/// @throws Error (usage) for an unknown name, with the nearest known one
Preset loadPreset(const std::string& name);

/// Where the text is that `task.text` names: a bundled one by its name, else a path.
std::filesystem::path textPath(const std::string& text);

/// The same with the path of a text that is not bundled made absolute: the trainer may be started from
/// elsewhere.
Specification withAbsoluteText(Specification specification);

}  // namespace roper
