#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/compare/outcome.h"

namespace roper {

/// Runs that differ in nothing but their seeds.
struct RunGroup {
    std::string key;              ///< the same for the same group in every session
    std::string label;            ///< the method, and the fields by which this group differs from the others
    Specification specification;  ///< of its first run
    std::vector<std::size_t> runs;  ///< indices of the records, by rising seeds
};

/// Everything of a specification that makes two runs different experiments: all fields but the seeds, what is
/// said about it, the device, and how often it reports, saves and takes snapshots.
std::string groupKey(const Specification& specification);

/// Groups in the order of their labels. Labels name the method and as few other fields as tell these groups
/// apart; where they come from several presets, also the preset and what differs from it. Where each stands
/// in an experiment that somebody named, and these are several, that name comes first: "width: RoPER".
std::vector<RunGroup> groupRuns(std::span<const RunRecord> runs);

/// In what the products of a run were computed; empty where it does not say, "bfloat16, float32" where that
/// changed.
std::string precisionOf(const RunRecord& run);

/// Whether two runs were computed in the same precision, or one of them does not say.
bool haveOnePrecision(const RunRecord& a, const RunRecord& b);

/// The run that differs from this one in nothing but the method, RoPE for RoPER or the other way round: of
/// several one in the same precision before any other, then a finished one, then the newest by name. Nothing
/// if there is none.
/// @param of  index of a record
std::optional<std::size_t> twinOf(std::span<const RunRecord> runs, std::size_t of);

/// Fields, apart from the method, by which two experiments differ: "width", "steps", …
std::vector<std::string> otherDifferences(const Specification& a, const Specification& b);

/// The settings of `a` that are not as in `b`, the method aside, each with its value: "width 64".
std::vector<std::string> differingSettings(const Specification& a, const Specification& b);

}  // namespace roper
