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

/// The folder of a kind of bundled resource, such as "presets": next to the running program's folder if
/// installed, above it in a build. @throws Error (usage) if there is none
std::filesystem::path resourceFolder(const std::string& kind);

/// Names of the .toml files in such a folder, sorted.
std::vector<std::string> resourceNames(const std::string& kind);

/// Names of the bundled presets, sorted.
std::vector<std::string> presetNames();

/// @throws Error (usage) for an unknown name, with the nearest known one
Preset loadPreset(const std::string& name);

/// Path of the text given by `task.text`: the name of a bundled text, else a path.
std::filesystem::path textPath(const std::string& text);

/// Path of the run or checkpoint given by `training.initial_weights`, in which `{seed}` stands for the model
/// seed: without a slash, the name of a run in the folder `runs`.
std::filesystem::path initialWeightsPath(const Specification& specification,
                                         const std::filesystem::path& runs);

/// The specification with absolute paths of a text that is not bundled and of initial weights, because the
/// trainer may be started in another folder.
Specification withAbsolutePaths(Specification specification);

}  // namespace roper
