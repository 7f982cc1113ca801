#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/specification/specification.h"

namespace roper {

/// How long a step of some specifications takes on this machine, as `roper-train bench step` measured it.
/// Kept in the runs folder beside the runs, for every machine that shares it.
struct Speeds {
    std::string host;                              ///< this machine
    std::map<std::string, double> seconds_a_step;  ///< by `shapeKey`

    std::optional<double> secondsAStep(const std::string& shape) const;
};

/// What the time of a step depends on: model, batch, length and device.
std::string shapeKey(const Specification& specification);

/// Those of this machine. A missing file has none, and so has one that cannot be read.
Speeds readSpeeds(const std::filesystem::path& runs);

/// @throws Error (disk)
void rememberSpeed(const std::filesystem::path& runs, const Specification& specification,
                   double seconds_a_step);

}  // namespace roper
