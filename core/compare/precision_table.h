#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/outcome_table.h"

namespace roper {

/// Runs of one method and preset, in float32 and bfloat16 with the same seeds.
struct PrecisionRow {
    std::string label;                           ///< label of the group
    OutcomeRow outcome;                          ///< a: float32, b: bfloat16
    std::optional<EquivalenceTest> equivalence;  ///< empty for fewer than two pairs

    /// Number of pairs omitted because a run failed, is not finished or was not measured.
    int omittedPairs() const;

    /// Whether the difference is within the bounds at the 5 % level. Always false if pairs are omitted: those
    /// runs may be the ones that differ.
    bool isEquivalent() const;
};

/// Equivalence of float32 and bfloat16 for every group with this measure and with runs in both precisions.
/// @param bound  the largest irrelevant difference, in units of the measure, chosen before training
/// @throws Error (usage) for `steps_until`, which has no mean if a run never reaches the target
std::vector<PrecisionRow> precisionTable(std::span<const RunRecord> runs, Measure measure, double bound);

/// Rows of cells, beginning with the header.
std::vector<std::vector<std::string>> tableRows(const std::vector<PrecisionRow>& rows);

/// CSV with a header line.
std::string toCsv(const std::vector<PrecisionRow>& rows);

}  // namespace roper
