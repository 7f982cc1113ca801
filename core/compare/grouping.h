#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/outcome.h"

namespace roper {

/// Data seed and model seed. Unknown ones of an imported run are negative and unique to it.
using RunSeeds = std::pair<std::int64_t, std::int64_t>;
inline RunSeeds seedsOf(const Specification& specification) {
    return {specification.training.data_seed, specification.training.model_seed};
}

/// Runs that differ only in their seeds.
struct RunGroup {
    std::string key;              ///< `groupKey` of its runs
    std::string label;            ///< the method, and the fields that distinguish this group from the others
    Specification specification;  ///< of its first run
    std::vector<std::size_t> runs;  ///< indices of the records, by ascending seed
};

/// The same text for two runs of one group: all fields of the specification except the seeds, the
/// description, the device, and the intervals of reports, checkpoints and snapshots.
std::string groupKey(const Specification& specification);

/// Groups sorted by label. Labels contain the method and as few other fields as distinguish these groups; for
/// several presets, also the preset and the differences from it. If each group belongs to an experiment named
/// by the user, and these are several, that name comes first: "width: RoPER".
std::vector<RunGroup> groupRuns(std::span<const RunRecord> runs);

/// The precision of a run's matrix products; empty if unknown, "bfloat16, float32" if it changed.
std::string precisionOf(const RunRecord& run);

/// Whether two runs were computed in the same precision, or that of one is unknown.
bool haveSamePrecision(const RunRecord& a, const RunRecord& b);

/// The run that differs from this one only in the method, RoPE for RoPER or vice versa, and in settings that
/// only one of the two methods reads. Preferred, in this order: defaults for these settings, the same
/// precision, a finished run, the last name. Empty if there is none.
/// @param of  index of a record
std::optional<std::size_t> findTwin(std::span<const RunRecord> runs, std::size_t of);

/// Fields, except the method, in which two experiments differ: "width", "steps", …
std::vector<std::string> differingFields(const Specification& a, const Specification& b);

/// For each specification, the few settings that distinguish it from the others, except task and method, with
/// their values: "width 64", "width 64, base 1000". Empty for defaults, or if all are alike.
std::vector<std::string> distinguishingSettings(const std::vector<Specification>& specifications);

/// The settings of `a`, except the method, that differ from `b`, with their values: "width 64".
std::vector<std::string> differingSettings(const Specification& a, const Specification& b);

}  // namespace roper
