#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/specification/specification.h"

namespace roper {

/// A sweep file (TOML): one or several base specifications, settings changed in all runs, axes whose values
/// are combined, variants that set several fields at a time, and seeds.
///
///     base = "index-quick"           # a preset, or a .toml file next to this one; or a list of them
///     seeds = [0, 1, 2, 3, 4]        # used as data and model seed
///     [set]
///     "training.steps" = 1000
///     [axes]
///     "model.position" = ["rope", "roper"]
///     [[variants]]
///     name = "half"                  # in the names of the runs
///     "model.rotary_fraction" = 0.5
///
/// Runs are named SWEEP-VALUES-sSEED, so that starting the same sweep again finds its existing runs. Settings
/// that a method does not read are reset to their defaults in its runs; but if an axis or a variant sets a
/// value that a run would ignore, the sweep is refused.
struct SweepRun {
    std::string name;
    Specification specification;
};

/// All runs; seeds are the outermost loop, so that runs with the same seed are adjacent.
/// @throws Error (usage) with origin:line:column, or naming the run that contradicts itself
std::vector<SweepRun> readSweep(const std::filesystem::path& path);

/// The path of a bundled sweep by its name, otherwise the given path. @throws Error (usage)
std::filesystem::path findSweep(const std::string& name_or_path);

}  // namespace roper
