#include "core/compare/outcome_table.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace roper {
namespace {

constexpr double kHalf = 0.5;
constexpr double kSolved = 0.95;  // of the problems at the end; above it, methods differ mainly in speed

/// Whether any pair has two final outcomes, at least one of them a value.
bool hasResult(const PairedComparison& comparison) {
    return std::ranges::any_of(comparison.pairs, [](const SeedPair& pair) {
        const bool any = pair.a.kind == Outcome::known || pair.b.kind == Outcome::known;
        return any && pair.a.isFinal() && pair.b.isFinal();
    });
}

}  // namespace

OutcomeRow makeOutcomeRow(PairedComparison comparison) {
    OutcomeRow row;
    // If some runs never reached the target, each side's mean is over its own runs that did.
    const bool some_never = comparison.count(Outcome::not_reached) > 0;
    std::vector<double> of_a, of_b;
    for (const SeedPair& pair : comparison.pairs) {
        const auto counts = [&](const OutcomeValue& value) {
            return some_never ? value.kind == Outcome::known : pair.isKnown();
        };
        if (counts(pair.a)) of_a.push_back(pair.a.value);
        if (counts(pair.b)) of_b.push_back(pair.b.value);
    }
    row.difference = summarize(comparison.differences());
    row.a = summarize(of_a);
    row.b = summarize(of_b);
    if (some_never) {
        row.is_sign_test = true;
        if (comparison.better_a + comparison.better_b > 0) row.p = comparison.sign_p;
    } else if (comparison.test && comparison.test->difference.error > 0) {
        row.p = comparison.test->p;
    }
    row.comparison = std::move(comparison);
    return row;
}

std::string OutcomeRow::title() const {
    return comparison.title() + (is_preregistered ? " (primary measure)" : "");
}

const PairedTest* OutcomeRow::tTest() const {
    return comparison.test && !is_sign_test ? &*comparison.test : nullptr;
}

std::optional<Measure> preregisteredMeasure(std::span<const RunRecord> runs, const RunGroup& a,
                                            const RunGroup& b) {
    const std::string& preregistered = a.specification.about.measure;
    if (preregistered == Specification().about.measure) return std::nullopt;
    for (const RunGroup* group : {&a, &b})
        for (const std::size_t run : group->runs)
            if (runs[run].specification.about.measure != preregistered) return std::nullopt;
    return parseMeasure(preregistered);
}

std::vector<OutcomeRow> outcomeTable(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b) {
    std::vector<OutcomeRow> rows;
    for (const MeasureInfo& info : measures()) {
        // Step time depends on the machine's other load and says nothing about learning.
        if (info.measure == Measure::step_time) continue;
        std::vector<double> fractions{kPreregisteredFraction};
        if (info.measure == Measure::steps_until) fractions = {kHalf, kPreregisteredFraction};
        for (const double solved_fraction : fractions) {
            PairedComparison comparison = comparePaired(runs, a, b, info.measure, solved_fraction);
            if (hasResult(comparison)) rows.push_back(makeOutcomeRow(std::move(comparison)));
        }
    }
    const auto preregistered = preregisteredMeasure(runs, a, b);
    for (OutcomeRow& row : rows)
        row.is_preregistered = row.comparison.measure == preregistered &&
                               row.comparison.solved_fraction == kPreregisteredFraction;
    std::stable_partition(rows.begin(), rows.end(),
                          [](const OutcomeRow& row) { return row.is_preregistered; });
    std::vector<double> secondary;
    for (const OutcomeRow& row : rows)
        if (row.p && !row.is_preregistered) secondary.push_back(*row.p);
    const std::vector<double> corrected = holmCorrected(secondary);
    std::size_t next = 0;
    for (OutcomeRow& row : rows)
        if (row.p) row.holm_p = row.is_preregistered ? *row.p : corrected[next++];
    return rows;
}

Measure defaultComparisonMeasure(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b) {
    if (const auto preregistered = preregisteredMeasure(runs, a, b)) return *preregistered;
    const Measure by_default = defaultMeasure(a.specification);
    if (!a.specification.task.hasProblems()) return by_default;
    for (const RunGroup* group : {&a, &b}) {
        bool any_finished = false;
        for (const std::size_t run : group->runs) {
            if (runs[run].state != RunState::finished || runs[run].evaluations.empty()) continue;
            any_finished = true;
            const EvaluationRow& last = runs[run].evaluations.back();
            if (static_cast<double>(last.correct.value_or(0)) <
                kSolved * static_cast<double>(last.total.value_or(1)))
                return by_default;
        }
        if (!any_finished) return by_default;
    }
    return Measure::steps_until;
}

OutcomeCells formatCells(const OutcomeRow& row) {
    const PairedComparison& c = row.comparison;
    const auto not_reached = [&](OutcomeValue SeedPair::*side) {
        return std::ranges::count_if(
            c.pairs, [&](const SeedPair& pair) { return (pair.*side).kind == Outcome::not_reached; });
    };
    const auto mean = [&](const Summary& summary, OutcomeValue SeedPair::*side) {
        std::string text = summary.count > 0 ? formatRounded(summary.mean, 4) : kMissingValue;
        if (not_reached(side) > 0) text += " (" + std::to_string(not_reached(side)) + " never)";
        return text;
    };
    OutcomeCells cells{row.title(),
                       mean(row.a, &SeedPair::a),
                       mean(row.b, &SeedPair::b),
                       kMissingValue,
                       kMissingValue,
                       kMissingValue,
                       kMissingValue};
    if (row.difference.count > 0) {
        const double difference = row.difference.mean;
        cells.difference = (difference > 0   ? "+"
                            : difference < 0 ? "−"
                                             : "") +
                           amountText(difference, infoOf(c.measure).unit);
    }
    if (row.tTest() && row.p) cells.interval = intervalText(c.test->interval);
    if (row.p) cells.p = formatRounded(*row.p, 3) + (row.is_sign_test ? " (sign test)" : "");
    if (row.holm_p) cells.holm_p = formatRounded(*row.holm_p, 3);
    return cells;
}

std::string toCsv(const std::vector<OutcomeRow>& rows) {
    std::string csv =
        "measure,share,unit,pairs,mean_a,mean_b,difference,low,high,test,p,holm_p,better_a,better_b,ties,"
        "permutation_p,named_before\n";
    for (const OutcomeRow& row : rows) {
        const PairedComparison& c = row.comparison;
        const MeasureInfo& info = infoOf(c.measure);
        const PairedTest* const test = row.tTest();
        csv += csvLine({info.name, c.measure == Measure::steps_until ? formatNumber(c.solved_fraction) : "",
                        info.unit, std::to_string(row.difference.count), csvNumber(row.a.mean),
                        csvNumber(row.b.mean), csvNumber(row.difference.mean),
                        test ? csvNumber(test->interval.low) : "", test ? csvNumber(test->interval.high) : "",
                        row.is_sign_test ? "sign" : "paired t", csvNumber(row.p), csvNumber(row.holm_p),
                        std::to_string(c.better_a), std::to_string(c.better_b), std::to_string(c.ties),
                        test ? csvNumber(test->permutation_p) : "", row.is_preregistered ? "1" : "0"});
    }
    return csv;
}

std::string quoteCsvCell(std::string text) {
    for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 2))
        text.insert(at, 1, '"');
    return '"' + text + '"';
}

std::string csvNumber(const std::optional<double>& value) {
    return value && !std::isnan(*value) ? formatNumber(*value) : std::string();
}

}  // namespace roper
