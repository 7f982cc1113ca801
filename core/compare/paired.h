#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/compare/grouping.h"
#include "core/compare/statistics.h"

namespace roper {

/// Of data and of the model. Those of an imported run that nobody said are negative, and no other run's.
using RunSeeds = std::pair<std::int64_t, std::int64_t>;

inline constexpr auto kNoNumber = "–";  ///< in a table, where there is no number

inline constexpr int kMostPairsNeeded = 1000;  ///< more than these are not counted

/// The same seeds trained under two methods.
struct SeedPair {
    std::int64_t data_seed = 0, model_seed = 0;
    std::string run_a, run_b;
    OutcomeValue a, b;

    bool isKnown() const { return a.kind == Outcome::known && b.kind == Outcome::known; }
    double difference() const { return b.value - a.value; }
};

/// Two groups of runs compared seed by seed. Differences are b − a.
struct PairedComparison {
    std::string label_a, label_b;
    Measure measure = Measure::final_correct;
    double share = 0.9;
    std::vector<SeedPair> pairs;   ///< of every seed that both groups have, by rising seed
    int alone_a = 0, alone_b = 0;  ///< runs whose seed the other group lacks
    int of_unknown_seeds = 0;      ///< imported runs that cannot be paired: nobody said their seeds
    bool is_known_a = true, is_known_b = true;  ///< whether all settings of the group are
    int repeated = 0;                      ///< runs left out because the same seed was trained again later
    std::optional<PairedTest> test;        ///< over the pairs whose outcomes are both known
    std::vector<std::string> also_differ;  ///< fields beside the method that are not the same in both groups
    std::optional<int> needed;             ///< pairs that would show a difference as large as this one
    int better_a = 0, better_b = 0, ties = 0;  ///< pairs, those that a run never finished well included
    double sign_p = 1;                         ///< of the sign test over them
    /// What computed the two runs of a pair differently, in any pair of which it is known: "precision", …
    std::vector<std::string> computed_by;
    int computed_differently = 0;  ///< such pairs
    std::string precision;         ///< that is compared where the runs are in more than one; empty otherwise
    int mixed_precision = 0;       ///< pairs left out because one run is in another precision than the other
    int other_precision = 0;       ///< runs left out because they are in another precision than most pairs
    /// Of how many an evaluation's solved problems are, where a measure counts them and all pairs agree.
    std::optional<std::int64_t> problems;

    /// The measure: "problems solved at the end, of 128", "steps until 90 % are solved".
    std::string title() const;
    std::vector<double> differences() const;
    int count(Outcome of_a_or_b) const;
};

/// Where a seed was trained more than once in a group, the last run by name counts, finished ones first. Runs
/// in more than one precision are not pooled: that in which most pairs are finished is compared.
/// @param mixes_precisions  whether pairs of different precisions count: to compare the precisions themselves
PairedComparison comparePaired(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b,
                               Measure measure, double share = 0.9, bool mixes_precisions = false);

/// Of a group the one run of each seed that counts, by rising seed, as `comparePaired` chooses it for a group
/// by itself.
std::vector<std::size_t> runsThatCount(std::span<const RunRecord> runs, const RunGroup& group);

/// With fewer pairs no exact permutation test can fall below 5 %: 2 of 2⁵ signs is 6 %.
inline constexpr int kFewPairs = 6;

/// What a comparison leaves out, in sentences; empty if nothing.
std::string leftOutText(const PairedComparison& comparison);

/// The labels of both groups without what they have in common: of "Addition: RoPE" and "Addition: RoPER" the
/// methods.
std::pair<std::string, std::string> differingLabels(const PairedComparison& comparison);

/// What follows from it, in sentences for a person: the difference with its interval, what it allows one to
/// say, and how many more pairs would settle it.
std::string conclusionOf(const PairedComparison& comparison);

/// Its size alone: "3.2 problems", "1 step"; of "%" in percentage points.
std::string amountText(double value, std::string unit);

/// Both ends with as many decimals as their distance deserves: "0.05 to 11.95".
std::string intervalText(const Interval& interval);

/// data_seed,model_seed,run_a,a,run_b,b,difference; an outcome that is not known is a word.
std::string csvOf(const PairedComparison& comparison);

}  // namespace roper
