#include "core/compare/precision_table.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr double kUnusedSolvedFraction = 0.9;  // used only by steps_until

/// The runs of a group computed entirely in one precision.
RunGroup inPrecision(std::span<const RunRecord> runs, const RunGroup& group, const std::string& precision) {
    RunGroup part = group;
    part.label = precision;
    std::erase_if(part.runs, [&](std::size_t run) {
        const auto& computations = runs[run].computations;
        return computations.empty() ||
               std::ranges::any_of(computations, [&](const ComputeEnvironment& computation) {
                   return computation.precision != precision;
               });
    });
    return part;
}

}  // namespace

int PrecisionRow::omittedPairs() const {
    const auto& pairs = outcome.comparison.pairs;
    return static_cast<int>(
        std::ranges::count_if(pairs, [](const SeedPair& pair) { return !pair.isKnown(); }));
}

bool PrecisionRow::isEquivalent() const {
    return equivalence && equivalence->p < kSignificance && omittedPairs() == 0;
}

std::vector<PrecisionRow> precisionTable(std::span<const RunRecord> runs, Measure measure, double bound) {
    if (measure == Measure::steps_until)
        throw Error(ErrorKind::usage,
                    "steps_until has no value for a run that never reaches the target, so its mean cannot be "
                    "tested: use final_correct, mean_correct or final_loss");
    std::vector<PrecisionRow> rows;
    for (const RunGroup& group : groupRuns(runs)) {
        if (!hasMeasure(runs[group.runs.front()].specification, measure)) continue;
        const RunGroup a = inPrecision(runs, group, "float32"), b = inPrecision(runs, group, "bfloat16");
        if (a.runs.empty() || b.runs.empty()) continue;
        PairedComparison comparison =
            comparePaired(runs, a, b, measure, kUnusedSolvedFraction, /*allow_mixed_precisions=*/true);
        const auto equivalence = equivalenceTest(comparison.differences(), bound);
        rows.push_back({group.label, makeOutcomeRow(std::move(comparison)), equivalence});
    }
    return rows;
}

std::vector<std::vector<std::string>> tableRows(const std::vector<PrecisionRow>& rows) {
    std::vector<std::vector<std::string>> lines{{"", "pairs", "left out", "float32", "bfloat16", "difference",
                                                 "95 % interval", "90 % interval", "bounds", "p",
                                                 "float32 and bfloat16"}};
    for (const PrecisionRow& row : rows) {
        const OutcomeCells cells = formatCells(row.outcome);
        const auto& test = row.equivalence;
        lines.push_back({row.label + ", " + cells.title, std::to_string(row.outcome.difference.count),
                         std::to_string(row.omittedPairs()), cells.a, cells.b, cells.difference,
                         cells.interval, test ? intervalText(test->interval) : "–",
                         test ? "±" + formatRounded(test->bound, 3) : "–",
                         test ? formatRounded(test->p, 3) : "–",
                         row.isEquivalent() ? "equivalent within the bounds" : "not shown to be equivalent"});
    }
    return lines;
}

std::string toCsv(const std::vector<PrecisionRow>& rows) {
    std::string csv =
        "group,measure,unit,pairs,left_out,float32,bfloat16,difference,low_95,high_95,low_90,high_90,bound,"
        "p\n";
    for (const PrecisionRow& row : rows) {
        const OutcomeRow& outcome = row.outcome;
        const auto& paired = outcome.comparison.test;
        const auto& test = row.equivalence;
        csv +=
            csvLine({quoteCsvCell(row.label), infoOf(outcome.comparison.measure).name,
                     infoOf(outcome.comparison.measure).unit, std::to_string(outcome.difference.count),
                     std::to_string(row.omittedPairs()), csvNumber(outcome.a.mean), csvNumber(outcome.b.mean),
                     csvNumber(outcome.difference.mean), paired ? csvNumber(paired->interval.low) : "",
                     paired ? csvNumber(paired->interval.high) : "",
                     test ? csvNumber(test->interval.low) : "", test ? csvNumber(test->interval.high) : "",
                     test ? csvNumber(test->bound) : "", test ? csvNumber(test->p) : ""});
    }
    return csv;
}

}  // namespace roper
