#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/grouping.h"
#include "core/compare/statistics.h"

namespace roper {

inline constexpr auto kMissingValue = "–";  ///< placeholder in tables for a missing number

/// Two runs with the same seeds, one from each group, and their outcomes.
struct SeedPair {
    std::int64_t data_seed = 0, model_seed = 0;
    std::string run_a, run_b;
    OutcomeValue a, b;

    bool isKnown() const { return a.kind == Outcome::known && b.kind == Outcome::known; }
    double difference() const { return b.value - a.value; }
};

/// Seed-by-seed comparison of two groups of runs. Differences are b − a.
struct PairedComparison {
    std::string label_a, label_b;
    Measure measure = Measure::final_correct;
    double solved_fraction = 0.9;        ///< fraction of problems solved, for `steps_until`
    std::vector<SeedPair> pairs;         ///< one for each common seed, ascending
    int unpaired_a = 0, unpaired_b = 0;  ///< runs whose seed is missing in the other group
    int unknown_seed_runs = 0;  ///< imported runs that cannot be paired, since their seeds are unknown
    bool are_settings_known_a = true,
         are_settings_known_b = true;  ///< whether all settings of the group are known
    int repeated_seed_runs = 0;        ///< runs omitted because the same seed was trained again later
    std::optional<PairedTest> test;    ///< over the pairs with both outcomes known; empty for fewer than two
    std::vector<std::string>
        other_differences;            ///< fields other than the method that differ between the groups
    std::optional<int> pairs_needed;  ///< pairs needed to detect a difference as large as this one
    /// Pairs in which a or b is better, or neither. A run that never reached the target is worse than its
    /// twin if that did.
    int better_a = 0, better_b = 0, ties = 0;
    double sign_p = 1;  ///< p-value of the sign test of `better_a` against `better_b`
    /// Members of `ComputeEnvironment` that differ within any pair, where known: "precision", …
    std::vector<std::string> computation_differences;
    int pairs_computed_differently = 0;  ///< number of such pairs
    std::string precision;          ///< the compared precision, if the runs have several; otherwise empty
    int mixed_precision_pairs = 0;  ///< pairs omitted because their runs differ in precision
    int other_precision_runs = 0;   ///< runs omitted because they have another precision than most pairs
    /// Number of problems in an evaluation, if the measure counts them and all pairs agree.
    std::optional<std::int64_t> problems;

    /// Title of the measure: "problems solved at the end, of 128", "steps until 90 % are solved".
    std::string title() const;
    std::vector<double> differences() const;  ///< of the pairs with both outcomes known
    int count(Outcome of_a_or_b) const;       ///< number of pairs with this outcome on either side
};

/// Compares two groups. If a seed was trained more than once in a group, the last finished run by name
/// counts, or the last run if none is finished. Runs of different precisions are not pooled: only the
/// precision with the most finished pairs is compared.
/// @param allow_mixed_precisions  whether pairs with different precisions count: to compare the precisions
/// themselves
PairedComparison comparePaired(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b,
                               Measure measure, double solved_fraction = 0.9,
                               bool allow_mixed_precisions = false);

/// The one run of each seed that counts, by ascending seed, as `comparePaired` chooses it within a single
/// group.
std::vector<std::size_t> oneRunPerSeed(std::span<const RunRecord> runs, const RunGroup& group);

/// With fewer pairs, an exact permutation test cannot reach p < 0.05: five differences have 2⁵ assignments of
/// signs, so the smallest two-sided p is 2/2⁵ ≈ 0.06.
inline constexpr int kMinPairs = 6;

/// Describes in sentences what a comparison omits; empty if nothing.
std::string omissionsText(const PairedComparison& comparison);

/// The labels of both groups without the title that both begin with: for "Addition: RoPE" and "Addition:
/// RoPER", the methods.
std::pair<std::string, std::string> differingLabels(const PairedComparison& comparison);

/// The result in one line: "RoPER +65.2 of 128 problems (39 to 91), 5 pairs"; empty without a test.
std::string headlineText(const PairedComparison& comparison);

/// The result as a sentence for a paper, with its interval and test; empty without a test.
std::string sentenceForPaper(const PairedComparison& comparison);

/// Conclusion for the user, in sentences: the difference with its interval, what can be concluded from it,
/// and how many more pairs would be conclusive.
std::string conclusionText(const PairedComparison& comparison);

/// Magnitude of a difference: "3.2 problems", "1 step"; for "%" in percentage points.
std::string amountText(double value, std::string unit);

/// Both ends with decimals appropriate to the width: "0.05 to 11.95".
std::string intervalText(const Interval& interval);

/// CSV: data_seed,model_seed,run_a,a,run_b,b,difference. If an outcome is unknown, a or b is "unfinished",
/// "not reached" or "missing".
std::string toCsv(const PairedComparison& comparison);

}  // namespace roper
