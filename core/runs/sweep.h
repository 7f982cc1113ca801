#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/specification/specification.h"

namespace roper {

/// A sweep file (TOML): one base specification or several, what is changed in all runs, axes whose values are
/// combined, variants that set several fields at a time, and seeds.
///
///     base = "index-quick"           # a preset, or a .toml file beside this one; or a list of them
///     seeds = [0, 1, 2, 3, 4]        # data and model seed together
///     [set]
///     "training.steps" = 1000
///     [axes]
///     "model.position" = ["rope", "roper"]
///     [[variants]]
///     name = "half"                  # in the names of the runs
///     "model.rotary_fraction" = 0.5
///
/// Runs are named SWEEP-VALUES-sSEED, so that the same sweep finds its runs again. What one method of a sweep
/// never reads goes back to its default in that method's runs; an axis or variant that it never reads is
/// refused.
struct SweepRun {
    std::string name;
    Specification specification;
};

/// All runs: seeds outermost, so that twins stand side by side.
/// @throws Error (usage) with origin:line:column, or naming the run that contradicts itself
std::vector<SweepRun> readSweep(const std::filesystem::path& path);

/// A bundled sweep by its name, otherwise the path itself. @throws Error (usage)
std::filesystem::path findSweep(const std::string& name_or_path);

}  // namespace roper
