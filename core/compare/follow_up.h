#pragma once

#include <span>
#include <vector>

#include "core/compare/paired.h"

namespace roper {

/// Proposed runs to extend a comparison.
struct FollowUp {
    enum class Kind {
        missing_twins,  ///< seeds that only one of the two groups has
        more_pairs,     ///< new seeds, under both methods
    };
    Kind kind = Kind::more_pairs;
    std::vector<Specification> runs;  ///< with twins next to each other
};

/// Runs worth training next to decide which of two groups is better: missing twins, and as many further pairs
/// as would detect a difference as large as the measured one with a power of 0.8 (at least `kMinPairs` in
/// all). Twins share device and precision, since they could not be compared otherwise. Unfinished runs count
/// as existing. Empty if the pairs are already conclusive, if more than `kMaxPairsNeeded` would be needed, or
/// if no finished run of a group records the measure, so that further runs would not either.
/// @param comparison  of `a` and `b`
std::vector<FollowUp> followUps(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b,
                                const PairedComparison& comparison);

}  // namespace roper
