#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/outcome_table.h"

namespace roper {

/// Runs of one method and preset, trained in float32 and in bfloat16 with the same seeds.
struct PrecisionRow {
    std::string label;                           ///< of the group
    OutcomeRow outcome;                          ///< a: float32, b: bfloat16
    std::optional<EquivalenceTest> equivalence;  ///< nothing for fewer than two pairs

    /// Pairs that are left out because a run failed, is not finished or was not measured.
    int oneSided() const;

    /// Whether the difference is shown to be within the bounds, at 5 %. Never where pairs are left out: those
    /// runs may be what differs.
    bool isEquivalent() const;
};

/// Of every group that has both, and such a measure, whether float32 and bfloat16 are equivalent.
/// @param bound  the largest difference that does not matter, in units of the measure, named before the runs
/// @throws Error (usage) for `steps_until`, which has no mean where a run never gets there
std::vector<PrecisionRow> precisionTable(std::span<const RunRecord> runs, Measure measure, double bound);

/// Lines of cells, the first one the heads.
std::vector<std::vector<std::string>> linesOf(const std::vector<PrecisionRow>& rows);

/// With a header line.
std::string csvOf(const std::vector<PrecisionRow>& rows);

}  // namespace roper
