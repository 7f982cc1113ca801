#include "core/compare/paired.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/base/text.h"

namespace roper {
namespace {

using RunsBySeed = std::map<RunSeeds, std::vector<std::size_t>>;

/// The runs of each seed, best first: finished ones before others, then in descending order of name. A run
/// with unknown seeds gets negative seeds of its own.
RunsBySeed bySeed(std::span<const RunRecord> runs, const RunGroup& group) {
    RunsBySeed of_seed;
    for (const std::size_t run : group.runs) {
        const Specification& specification = runs[run].specification;
        const std::int64_t own_seed = -1 - static_cast<std::int64_t>(run);
        of_seed[seedsAreKnown(specification) ? seedsOf(specification) : RunSeeds{own_seed, own_seed}]
            .push_back(run);
    }
    for (auto& [seeds, candidates] : of_seed) {
        std::ranges::reverse(candidates);
        std::stable_partition(candidates.begin(), candidates.end(),
                              [&](std::size_t run) { return runs[run].state == RunState::finished; });
    }
    return of_seed;
}

bool hasPrecision(const RunRecord& run, const std::string& precision) {
    return run.computations.empty() || precisionOf(run) == precision;
}

/// The precision in which most seeds have a finished run in every group, on ties the first by name; empty if
/// all known precisions are the same.
std::string precisionToCompare(std::span<const RunRecord> runs,
                               std::initializer_list<const RunsBySeed*> groups) {
    std::map<std::string, std::map<RunSeeds, std::size_t>> finished;  // numbers of groups with such a run
    for (const RunsBySeed* group : groups)
        for (const auto& [seeds, candidates] : *group) {
            std::set<std::string> here;
            for (const std::size_t run : candidates) {
                const std::string precision = precisionOf(runs[run]);
                if (precision.empty()) continue;
                finished[precision];
                if (runs[run].state == RunState::finished) here.insert(precision);
            }
            for (const std::string& precision : here)
                ++finished[precision][seeds];
        }
    if (finished.size() < 2) return {};
    const auto complete_seeds = [&](const auto& of_precision) {
        return std::ranges::count_if(of_precision.second,
                                     [&](const auto& seed) { return seed.second == groups.size(); });
    };
    return std::ranges::max_element(
               finished, [&](const auto& a, const auto& b) { return complete_seeds(a) < complete_seeds(b); })
        ->first;
}

/// Removes runs with another precision. @returns their number
int keepPrecision(std::span<const RunRecord> runs, const std::string& precision, RunsBySeed& of_seed) {
    int left_out = 0;
    for (auto& [seeds, candidates] : of_seed)
        left_out += static_cast<int>(
            std::erase_if(candidates, [&](std::size_t run) { return !hasPrecision(runs[run], precision); }));
    return left_out;
}

/// −1 if a is better, 1 if b is, 0 if neither. A run that never reached the target is worse than one that
/// did. Empty if an outcome is not final.
std::optional<int> betterSide(const SeedPair& pair, bool higher_is_better) {
    if (!pair.a.isFinal() || !pair.b.isFinal()) return std::nullopt;
    if (!pair.isKnown()) {
        const bool a_reached = pair.a.kind == Outcome::known, b_reached = pair.b.kind == Outcome::known;
        return a_reached ? -1 : b_reached ? 1 : 0;
    }
    if (pair.difference() == 0) return 0;
    return (pair.difference() > 0) == higher_is_better ? 1 : -1;
}

/// Names of the properties in which the computations of two runs differ; empty if unknown.
std::vector<std::string> differencesOfComputation(const RunRecord& a, const RunRecord& b) {
    std::vector<std::string> names;
    if (a.computations.empty() || b.computations.empty() || a.computations == b.computations) return names;
    const auto of_a = fieldsOf(a.computations), of_b = fieldsOf(b.computations);
    for (std::size_t i = 0; i < of_a.size(); ++i)
        if (of_a[i].second != of_b[i].second) names.push_back(of_a[i].first);
    return names;
}

/// Whether the times of two runs are comparable.
bool usedTheSameMachine(const RunRecord& a, const RunRecord& b) {
    if (a.specification.isImported() || b.specification.isImported()) return false;  // unknown
    const auto& of_a = a.specification.device;
    const auto& of_b = b.specification.device;
    return a.host == b.host && of_a.name == of_b.name && of_a.threads == of_b.threads;
}

/// Number of problems in an evaluation, if both have the same.
std::optional<std::int64_t> problemsOf(const RunRecord& a, const RunRecord& b) {
    if (a.evaluations.empty() || b.evaluations.empty()) return std::nullopt;
    const auto of_a = a.evaluations.back().total, of_b = b.evaluations.back().total;
    return of_a == of_b ? of_a : std::nullopt;
}

std::string signedText(double value) {
    return (value < 0 ? "−" : "") + formatRounded(std::abs(value), 4);
}

/// "RoPER solves 3.2 more problems than RoPE", "RoPER is 0.02 nats below RoPE"
std::string differenceText(const PairedComparison& c, double mean) {
    if (mean == 0) return c.label_b + " and " + c.label_a + " are equal";
    const std::string& unit = infoOf(c.measure).unit;
    std::string amount = amountText(mean, unit);
    if (unit != "problems" && unit != "steps")
        return c.label_b + " is " + amount + (mean > 0 ? " above " : " below ") + c.label_a;
    amount.insert(amount.find(' '), mean > 0 ? " more" : " fewer");
    return c.label_b + (unit == "steps" ? " needs " : " solves ") + amount + " than " + c.label_a;
}

std::string testText(const PairedComparison& c) {
    const PairedTest& test = *c.test;
    const std::size_t n = test.difference.count;
    std::string text = "Over " + countOf(n, "pair") + ", " + differenceText(c, test.difference.mean) +
                       " on average (" + c.title() + "). ";
    if (std::isinf(test.t) || !(test.difference.error > 0))
        return text + "All pairs differ by the same amount, so their spread cannot be estimated yet. ";
    text +=
        "The 95 % interval of the mean difference is " + intervalText(test.interval) + " (paired t-test: t(" +
        std::to_string(n - 1) + ") = " + signedText(test.t) + ", p = " + formatRounded(test.p, 3) +
        (test.permutation_p ? "; exact permutation test: p = " + formatRounded(*test.permutation_p, 3) : "") +
        (test.bootstrap ? "; bootstrap " + intervalText(*test.bootstrap) : "") + "). ";
    if (c.count(Outcome::not_reached) > 0)
        return text +
               "This covers only the pairs in which both reached the target, so it does not decide; the sign "
               "test does. ";
    if (!test.interval.contains(0)) {
        const bool b_better = (test.difference.mean > 0) == infoOf(c.measure).higher_is_better;
        text +=
            "The interval excludes 0: the difference is more than chance over seeds explains (at 95 %), "
            "and in this setting " +
            (b_better ? c.label_b : c.label_a) + " is better on average. ";
        if (c.pairs_needed)
            text += "A true difference of this size would be detected in four of five experiments with " +
                    countOf(static_cast<std::size_t>(*c.pairs_needed), "pair") + ". ";
        if (n < kMinPairs)
            text += "With fewer than " + std::to_string(kMinPairs) +
                    " pairs this assumes that differences are normally distributed; train more. ";
        return text;
    }
    text += "The interval includes 0: these pairs do not show which is better. ";
    if (!c.pairs_needed)
        return text + "If the true difference were this small, more than " + std::to_string(kMaxPairsNeeded) +
               " pairs would be needed to detect it. ";
    // With so few pairs the standard deviation is uncertain, and the estimate may be below the existing
    // number.
    const auto pairs_needed = std::max<std::size_t>(static_cast<std::size_t>(*c.pairs_needed), n + 1);
    return text + "If the true difference were this large, " + countOf(pairs_needed, "pair") + " (" +
           std::to_string(pairs_needed - n) + " more) would detect it in four of five experiments. ";
}

std::string tooFewText(const PairedComparison& c) {
    const auto known = c.differences();
    if (c.pairs.empty())
        return "No seed has been trained with both " + c.label_a + " and " + c.label_b +
               ", so nothing can be compared yet. Queue twins: the same seeds under both. ";
    if (known.empty() && c.count(Outcome::not_reached) == static_cast<int>(c.pairs.size()))
        return c.pairs.size() == 1
                   ? "In the only pair, the two runs did not both reach the target. "
                   : "In none of " + countOf(c.pairs.size(), "pair") + " did both runs reach the target. ";
    if (known.empty())
        return "No pair is complete yet: of " + countOf(c.pairs.size(), "seed") +
               " in both groups, none has this outcome in both. ";
    return "In the only complete pair, " + differenceText(c, known.front()) + " (" + c.title() +
           "). One pair says nothing about the spread over seeds: train at least " +
           std::to_string(kMinPairs - 1) + " more. ";
}

/// Runs that never reached the target have no step to average, but the pairs in which a run was first can be
/// counted.
std::string neverText(const PairedComparison& c) {
    if (c.measure != Measure::steps_until) return {};
    int never_a = 0, never_b = 0;
    for (const SeedPair& pair : c.pairs) {
        never_a += pair.a.kind == Outcome::not_reached ? 1 : 0;
        never_b += pair.b.kind == Outcome::not_reached ? 1 : 0;
    }
    if (never_a + never_b == 0) return {};
    return "The target was never reached by " + countOf(static_cast<std::size_t>(never_a), "run") + " with " +
           c.label_a + " and " + countOf(static_cast<std::size_t>(never_b), "run") + " with " + c.label_b +
           "; their pairs are excluded from the mean. " + c.label_b + " is first in " +
           std::to_string(c.better_b) + " and " + c.label_a + " in " + std::to_string(c.better_a) + " of " +
           countOf(static_cast<std::size_t>(c.better_a + c.better_b + c.ties), "pair") +
           " (sign test: p = " + formatRounded(c.sign_p, 3) +
           (c.sign_p < 1 - kConfidence ? "): more than chance explains. "
                                       : "): these pairs do not show which is faster. ");
}

std::string outcomeCell(const OutcomeValue& outcome) {
    switch (outcome.kind) {
        case Outcome::known:
            return formatNumber(outcome.value);
        case Outcome::unfinished:
            return "unfinished";
        case Outcome::not_reached:
            return "not reached";
        default:
            return "missing";
    }
}

}  // namespace

std::string PairedComparison::title() const {
    return titleOf(measure, solved_fraction) + (problems ? ", of " + std::to_string(*problems) : "");
}

std::vector<double> PairedComparison::differences() const {
    std::vector<double> known;
    for (const SeedPair& pair : pairs)
        if (pair.isKnown()) known.push_back(pair.difference());
    return known;
}

int PairedComparison::count(Outcome of_a_or_b) const {
    return static_cast<int>(std::ranges::count_if(
        pairs, [&](const SeedPair& pair) { return pair.a.kind == of_a_or_b || pair.b.kind == of_a_or_b; }));
}

std::vector<std::size_t> oneRunPerSeed(std::span<const RunRecord> runs, const RunGroup& group) {
    RunsBySeed of_seed = bySeed(runs, group);
    if (const std::string precision = precisionToCompare(runs, {&of_seed}); !precision.empty())
        keepPrecision(runs, precision, of_seed);
    std::vector<std::size_t> counted;
    for (const auto& [seeds, candidates] : of_seed)
        if (!candidates.empty()) counted.push_back(candidates.front());
    return counted;
}

namespace {

/// Adds the pair of one seed to a comparison.
void addPair(std::span<const RunRecord> runs, const RunSeeds& seeds, std::size_t run, std::size_t twin,
             bool allow_mixed_precisions, PairedComparison& comparison) {
    const Measure measure = comparison.measure;
    SeedPair pair{seeds.first,
                  seeds.second,
                  runs[run].name,
                  runs[twin].name,
                  outcomeOf(runs[run], measure, comparison.solved_fraction),
                  outcomeOf(runs[twin], measure, comparison.solved_fraction)};
    if (measure == Measure::step_time && !usedTheSameMachine(runs[run], runs[twin])) pair.a = pair.b = {};
    if (!allow_mixed_precisions && !haveSamePrecision(runs[run], runs[twin])) {
        pair.a = pair.b = {};
        ++comparison.mixed_precision_pairs;
    } else if (const std::vector<std::string> names = differencesOfComputation(runs[run], runs[twin]);
               !names.empty()) {
        ++comparison.pairs_computed_differently;
        for (const std::string& name : names)
            if (!hasElement(comparison.computation_differences, name))
                comparison.computation_differences.push_back(name);
    }
    if (const auto better = betterSide(pair, infoOf(measure).higher_is_better))
        ++(*better < 0 ? comparison.better_a : *better > 0 ? comparison.better_b : comparison.ties);
    comparison.pairs.push_back(std::move(pair));
}

/// Computes the tests over all pairs.
void computeTests(PairedComparison& comparison) {
    comparison.sign_p = signTest(comparison.better_a, comparison.better_b);
    comparison.test = pairedTest(comparison.differences());
    if (comparison.test)
        comparison.pairs_needed =
            pairsNeeded(comparison.test->difference.mean, comparison.test->difference.standard_deviation);
}

/// Counts runs whose seed is missing in the other group, was trained again, or is unknown.
/// @param alone  `unpaired_a` or `unpaired_b` of the comparison
void countUnpaired(const RunsBySeed& of_a, const RunsBySeed& of_b, int& alone, PairedComparison& comparison) {
    for (const auto& [seeds, candidates] : of_a) {
        if (candidates.empty()) continue;
        comparison.repeated_seed_runs += static_cast<int>(candidates.size()) - 1;
        if (seeds.first < 0)
            ++comparison.unknown_seed_runs;
        else
            alone += of_b.contains(seeds) ? 0 : 1;
    }
}

}  // namespace

PairedComparison comparePaired(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b,
                               Measure measure, double solved_fraction, bool allow_mixed_precisions) {
    PairedComparison comparison;
    comparison.label_a = a.label;
    comparison.label_b = b.label;
    comparison.measure = measure;
    comparison.solved_fraction = solved_fraction;
    comparison.other_differences = differingFields(a.specification, b.specification);
    comparison.are_settings_known_a = a.specification.about.known.empty();
    comparison.are_settings_known_b = b.specification.about.known.empty();
    RunsBySeed of_a = bySeed(runs, a), of_b = bySeed(runs, b);
    if (!allow_mixed_precisions) comparison.precision = precisionToCompare(runs, {&of_a, &of_b});
    RunsBySeed every_a, every_b;
    if (!comparison.precision.empty()) {
        every_a = of_a;
        every_b = of_b;
        comparison.other_precision_runs =
            keepPrecision(runs, comparison.precision, of_a) + keepPrecision(runs, comparison.precision, of_b);
    }
    countUnpaired(of_a, of_b, comparison.unpaired_a, comparison);
    countUnpaired(of_b, of_a, comparison.unpaired_b, comparison);
    std::set<std::optional<std::int64_t>> problems;
    for (const auto& [seeds, candidates] : of_a) {
        const auto twins = of_b.find(seeds);
        if (twins == of_b.end() || (candidates.empty() && twins->second.empty())) continue;
        // A run whose twin exists only in another precision is listed with it, without outcomes.
        const std::size_t run = (candidates.empty() ? every_a.at(seeds) : candidates).front(),
                          twin = (twins->second.empty() ? every_b.at(seeds) : twins->second).front();
        if (candidates.empty() || twins->second.empty()) --comparison.other_precision_runs;
        addPair(runs, seeds, run, twin, allow_mixed_precisions, comparison);
        problems.insert(problemsOf(runs[run], runs[twin]));
    }
    if (infoOf(measure).unit == "problems" && problems.size() == 1) comparison.problems = *problems.begin();
    computeTests(comparison);
    return comparison;
}

std::string omissionsText(const PairedComparison& c) {
    std::string text;
    const auto tell = [&](int count, const char* counted, const std::string& what) {
        if (count > 0) text += countOf(static_cast<std::size_t>(count), counted) + what + ". ";
    };
    tell(c.mixed_precision_pairs, "pair", " left out: the two runs were computed in different precisions");
    tell(c.other_precision_runs, "run", " left out: the comparison is in " + c.precision);
    tell(c.count(Outcome::unfinished), "pair", " not finished");
    tell(c.count(Outcome::not_recorded) - c.mixed_precision_pairs, "pair",
         " without this outcome (failed, or not measured)");
    tell(c.unpaired_a + c.unpaired_b, "run", " without a twin with the same seeds");
    tell(c.unknown_seed_runs, "imported run", " left out: unknown seeds cannot be paired");
    tell(c.repeated_seed_runs, "run", " left out: the same seeds were trained again later");
    if (c.pairs_computed_differently > 0)
        text += "In " + std::to_string(c.pairs_computed_differently) + " of " +
                countOf(c.pairs.size(), "pair") + " the two runs were computed differently (" +
                join(c.computation_differences, ", ") +
                "): then the same seeds give different results, whatever the method. ";
    if (!c.other_differences.empty())
        text += "Note that the groups also differ in " + join(c.other_differences, ", ") +
                ": this does not compare the methods alone. ";
    std::vector<std::string> imported;
    if (!c.are_settings_known_a) imported.push_back(c.label_a);
    if (!c.are_settings_known_b) imported.push_back(c.label_b);
    if (!imported.empty())
        text += "Note that " + join(imported, " and ") + (imported.size() > 1 ? " were" : " was") +
                " imported: their unspecified settings are unknown and may also differ. ";
    return text;
}

std::pair<std::string, std::string> differingLabels(const PairedComparison& comparison) {
    constexpr std::string_view kAfterTitle = ": ";  // after the title of a preset
    const std::string &a = comparison.label_a, &b = comparison.label_b;
    const std::size_t found = a.rfind(kAfterTitle);
    if (found == std::string::npos) return {a, b};
    const std::size_t end = found + kAfterTitle.size();
    if (b.compare(0, end, a, 0, end) != 0) return {a, b};
    return {a.substr(end), b.substr(end)};
}

std::string conclusionText(const PairedComparison& comparison) {
    PairedComparison named = comparison;
    std::tie(named.label_a, named.label_b) = differingLabels(comparison);
    return trimmed((named.test ? testText(named) : tooFewText(named)) + neverText(named) +
                   omissionsText(named));
}

std::string headlineText(const PairedComparison& c) {
    if (!c.test) return {};
    const double mean = c.test->difference.mean;
    std::string amount = amountText(mean, infoOf(c.measure).unit);
    if (c.problems) amount.insert(amount.find(' '), " of " + std::to_string(*c.problems));
    const bool has_spread = !std::isinf(c.test->t) && c.test->difference.error > 0;
    return differingLabels(c).second +
           (mean < 0   ? " −"
            : mean > 0 ? " +"
                       : " ±") +
           amount + (has_spread ? " (" + intervalText(c.test->interval) + ")" : "") + ", " +
           countOf(c.test->difference.count, "pair");
}

std::string sentenceForPaper(const PairedComparison& comparison) {
    if (!comparison.test) return {};
    PairedComparison c = comparison;
    std::tie(c.label_a, c.label_b) = differingLabels(comparison);
    const PairedTest& test = *c.test;
    std::string text = "Over " + countOf(test.difference.count, "pair") + " of runs with equal seeds, " +
                       differenceText(c, test.difference.mean) + " on average (" + c.title();
    if (std::isinf(test.t) || !(test.difference.error > 0)) return text + "; all pairs differ equally).";
    text += "; 95 % confidence interval " + intervalText(test.interval) + "; paired t-test, t(" +
            std::to_string(test.difference.count - 1) + ") = " + signedText(test.t) +
            ", p = " + formatRounded(test.p, 3) + ").";
    const auto never = c.count(Outcome::not_reached);
    return never == 0 ? text
                      : text + " " + countOf(static_cast<std::size_t>(never), "pair") +
                            " in which a run never reached the target " + (never == 1 ? "is" : "are") +
                            " not included.";
}

std::string amountText(double value, std::string unit) {
    const std::string number = formatRounded(std::abs(value), 4);
    if (unit == "%") unit = "percentage points";
    if (number == "1" && unit.ends_with('s') && unit != "ms") unit.pop_back();
    return number + " " + unit;
}

std::string intervalText(const Interval& interval) {
    const double width = interval.high - interval.low;
    const double size = width > 0 ? width : std::max(std::abs(interval.low), 1e-12);
    const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(size))), 0, 12);
    const auto end = [decimals](double value) {
        return (value < 0 ? "−" : "") + formatFixed(std::abs(value), decimals);
    };
    return end(interval.low) + " to " + end(interval.high);
}

std::string toCsv(const PairedComparison& comparison) {
    std::string csv = "data_seed,model_seed,run_a,a,run_b,b,difference\n";
    for (const SeedPair& pair : comparison.pairs) {
        csv += csvLine({std::to_string(pair.data_seed), std::to_string(pair.model_seed), pair.run_a,
                        outcomeCell(pair.a), pair.run_b, outcomeCell(pair.b),
                        pair.isKnown() ? formatNumber(pair.difference()) : ""});
    }
    return csv;
}

}  // namespace roper
