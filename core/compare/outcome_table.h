#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/paired.h"

namespace roper {

/// One measure of two groups, over the seeds that both have.
struct OutcomeRow {
    PairedComparison comparison;
    /// Over the pairs whose outcomes are both known; where a run never got there, of each side over its own
    /// runs that did.
    Summary a, b;
    Summary difference;  ///< b − a over the pairs whose outcomes are both known
    /// Of the paired t-test; where a run never got there, of the sign test over who was first.
    std::optional<double> p;
    bool is_sign_test = false;
    /// The same, corrected for the number of measures in the table that were not named before (Holm 1979); of
    /// the one that was, p itself.
    std::optional<double> holm_p;
    bool is_named_before = false;  ///< by both groups' presets, before the runs were trained

    std::string title() const;
};

OutcomeRow outcomeRowOf(PairedComparison comparison);

/// Every measure that at least one pair of the groups has, steps until half and until nine tenths are solved
/// among them; not the time of a step. A measure that was named before comes first.
std::vector<OutcomeRow> outcomeTable(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b);

/// The measure that both groups' presets have named, if they have.
std::optional<Measure> namedMeasure(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b);

/// The share of problems solved that a named `steps_until` means.
inline constexpr double kNamedShare = 0.9;

/// The measure by which two groups are compared if nobody chooses: the one that was named before; else steps
/// until nine tenths are solved where every finished run of both solves at least 95 % in the end, and each
/// group has one; else problems solved at the end; of tasks without problems the loss.
Measure leadingMeasure(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b);

/// A row as people read it: "124.4", "+1.8 problems", "−2.2 to 5.8", "0.28", "0.56"; "–" where there is
/// nothing.
struct OutcomeCells {
    std::string title, a, b, difference, interval, p, holm_p;
};
OutcomeCells cellsOf(const OutcomeRow& row);

/// With a header line.
std::string csvOf(const std::vector<OutcomeRow>& rows);

/// A text as a cell of CSV, in quotes: labels hold commas.
std::string quotedCell(std::string text);

}  // namespace roper
