#pragma once

#include <span>
#include <vector>

#include "core/compare/paired.h"

namespace roper {

/// Runs that would take a comparison further.
struct FollowUp {
    enum class Kind {
        missing_twins,  ///< seeds that one of the two groups has and the other lacks
        more_pairs,     ///< seeds that neither has, under both
    };
    Kind kind = Kind::more_pairs;
    std::vector<Specification> runs;  ///< twins side by side
};

/// What is worth training next to answer which of two groups is better: the twins that are missing, and as
/// many more pairs as would show a difference as large as the measured one with a power of 0.8 (at least
/// `kFewPairs` in all). Twins have one device and one precision, or they could not be compared. Runs that are
/// still to finish count as there. Nothing where the pairs have settled it, or where more than a thousand
/// would be needed, or where
/// none of the finished runs of a group records the measure: further ones would not, either.
/// @param comparison  of `a` and `b`
std::vector<FollowUp> followUps(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b,
                                const PairedComparison& comparison);

}  // namespace roper
