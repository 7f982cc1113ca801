#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/paired.h"

namespace roper {

/// One measure of two groups, over their common seeds.
struct OutcomeRow {
    PairedComparison comparison;
    /// Over the pairs with both outcomes known; but if some run never reached the target, over each side's
    /// own runs that did.
    Summary a, b;
    Summary difference;  ///< b − a over the pairs with both outcomes known
    /// p-value of the paired t-test; if some run never reached the target, of the sign test of which was
    /// first. Empty if it cannot be computed.
    std::optional<double> p;
    bool is_sign_test = false;
    /// p corrected for the number of measures in the table that were not named in advance (Holm 1979); for
    /// the one that was, p itself.
    std::optional<double> holm_p;
    bool is_preregistered = false;  ///< whether both groups' presets named it before the runs were trained

    std::string title() const;
    /// The paired t-test; null if there are too few pairs, or if the sign test decides instead.
    const PairedTest* tTest() const;
};

OutcomeRow makeOutcomeRow(PairedComparison comparison);

/// All measures known for at least one pair of the groups, including steps until half and until nine tenths
/// are solved, but not the step time. A measure named in advance comes first.
std::vector<OutcomeRow> outcomeTable(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b);

/// The measure that the presets of all runs of both groups name, if any.
std::optional<Measure> preregisteredMeasure(std::span<const RunRecord> runs, const RunGroup& a,
                                            const RunGroup& b);

/// The fraction of problems to solve if a preset names `steps_until`.
inline constexpr double kPreregisteredFraction = 0.9;

/// The default measure for comparing two groups: the one named in advance; else steps until nine tenths are
/// solved if each group has a finished run and all finished runs solve at least 95 % in the end; else
/// problems solved at the end, or the loss for tasks without problems.
Measure defaultComparisonMeasure(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b);

/// A row formatted for display: "124.4", "+1.8 problems", "−2.2 to 5.8", "0.28", "0.56"; "–" for missing
/// values.
struct OutcomeCells {
    std::string title, a, b, difference, interval, p, holm_p;
};
OutcomeCells formatCells(const OutcomeRow& row);

/// CSV with a header line.
std::string toCsv(const std::vector<OutcomeRow>& rows);

/// A text as a CSV cell, in quotes, since labels contain commas.
std::string quoteCsvCell(std::string text);

/// A number as a CSV cell; NaN, as in a summary of too few values, becomes an empty cell.
std::string csvNumber(const std::optional<double>& value);

}  // namespace roper
