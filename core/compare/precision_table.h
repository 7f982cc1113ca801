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

    /// Whether the difference is shown to be within the bounds, at 5 %.
    bool isEquivalent() const;
};

/// Of every group that has both, whether bfloat16 does as well as float32.
/// @param bound  the largest difference that does not matter, in units of the measure, named before the runs
std::vector<PrecisionRow> precisionTable(std::span<const RunRecord> runs, Measure measure, double bound,
                                         double share = 0.9);

/// Lines of cells, the first one the heads.
std::vector<std::vector<std::string>> linesOf(const std::vector<PrecisionRow>& rows);

/// With a header line.
std::string csvOf(const std::vector<PrecisionRow>& rows);

}  // namespace roper
