#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/specification/specification.h"

namespace roper {

/// Step times of specifications on this machine, measured by `roper-train bench step`. Stored in the runs
/// folder, separately for every machine that shares it.
struct Speeds {
    std::string host;                                ///< this machine
    std::map<std::string, double> seconds_per_step;  ///< by `stepTimeKey`

    /// Empty if this shape (`stepTimeKey`) has not been measured.
    std::optional<double> secondsPerStep(const std::string& shape) const;
};

/// A key of all settings that determine the time of a step: model, batch, length and device.
std::string stepTimeKey(const Specification& specification);

/// The speeds of this machine; empty if the file is missing or unreadable.
Speeds readSpeeds(const std::filesystem::path& runs);

/// @throws Error (disk)
void saveSpeed(const std::filesystem::path& runs, const Specification& specification,
               double seconds_per_step);

}  // namespace roper
