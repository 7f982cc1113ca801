#include "core/compare/follow_up.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace roper {
namespace {

std::set<RunSeeds> seedsOf(std::span<const RunRecord> runs, const RunGroup& group) {
    std::set<RunSeeds> seeds;
    for (const std::size_t run : group.runs)
        seeds.insert(seedsOf(runs[run].specification));
    return seeds;
}

Specification withSeeds(Specification specification, const RunSeeds& seeds) {
    specification.training.data_seed = seeds.first;
    specification.training.model_seed = seeds.second;
    return specification;
}

/// A run of a group with the training conditions of its twin: the same seeds, device and precision.
Specification makeTwin(const RunGroup& group, const Specification& of) {
    Specification twin = withSeeds(group.specification, seedsOf(of));
    twin.device = of.device;
    return twin;
}

/// Adds runs of `group` with the seeds that only `other` has.
/// @param precision  runs of `other` with another precision are ignored; empty: none are
void addMissing(std::span<const RunRecord> runs, const RunGroup& group, const RunGroup& other,
                const std::string& precision, std::vector<Specification>& missing) {
    std::set<RunSeeds> seeds = seedsOf(runs, group);
    for (const std::size_t run : other.runs) {
        const std::string own = precisionOf(runs[run]);
        if (!precision.empty() && !own.empty() && own != precision) continue;
        const Specification& of_other = runs[run].specification;
        if (seeds.insert(seedsOf(of_other)).second) missing.push_back(makeTwin(group, of_other));
    }
}

/// The device of the first compared run: further pairs use the same.
Specification::Device deviceOf(std::span<const RunRecord> runs, const PairedComparison& comparison,
                               const RunGroup& group) {
    for (const SeedPair& pair : comparison.pairs)
        for (const RunRecord& run : runs)
            if (run.name == pair.run_a && pair.a.isFinal()) return run.specification.device;
    return group.specification.device;
}

/// Number of pairs with which p of the sign test would be below 0.05 at the present proportion of wins; 0 if
/// larger than `kMaxPairsNeeded`.
int pairsForSignTest(int better_a, int better_b) {
    const int decided = better_a + better_b;
    for (int pairs = decided; decided > 0 && pairs <= kMaxPairsNeeded; ++pairs) {
        const int ahead = static_cast<int>(
            std::lround(static_cast<double>(std::max(better_a, better_b)) * pairs / decided));
        if (signTest(ahead, pairs - ahead) < kSignificance) return pairs;
    }
    return 0;
}

/// Total number of pairs needed; 0 if the existing ones are conclusive, or the number cannot be determined.
int pairsRequired(const PairedComparison& c) {
    const auto known = static_cast<int>(c.differences().size());
    if (c.count(Outcome::not_reached) > 0) {  // the mean excludes these pairs, so the sign test decides
        const int decided = c.better_a + c.better_b;
        if (decided > 0 && c.sign_p < kSignificance) return 0;
        return std::max(kMinPairs, pairsForSignTest(c.better_a, c.better_b));
    }
    const bool is_open = c.test && c.test->interval.contains(0) && c.pairs_needed;
    if (known < kMinPairs) return is_open ? std::max(kMinPairs, *c.pairs_needed) : kMinPairs;
    return is_open ? std::max(*c.pairs_needed, known + 1) : 0;
}

/// Whether further runs would not record the measure: their task does not have it, or no finished run has it.
bool isNotRecorded(std::span<const RunRecord> runs, const RunGroup& group,
                   const PairedComparison& comparison) {
    if (!hasMeasure(group.specification, comparison.measure)) return true;
    bool any_finished = false;
    for (const std::size_t run : group.runs) {
        if (runs[run].state != RunState::finished) continue;
        any_finished = true;
        if (outcomeOf(runs[run], comparison.measure, comparison.solved_fraction).kind !=
            Outcome::not_recorded)
            return false;
    }
    return any_finished;
}

}  // namespace

std::vector<FollowUp> followUps(std::span<const RunRecord> runs, const RunGroup& a, const RunGroup& b,
                                const PairedComparison& comparison) {
    if (isNotRecorded(runs, a, comparison) || isNotRecorded(runs, b, comparison)) return {};
    std::vector<FollowUp> all;
    // Imported runs cannot be trained here: their method is not ours, or their settings are unknown.
    if (a.specification.isImported() || b.specification.isImported()) return all;
    FollowUp twins{FollowUp::Kind::missing_twins, {}};
    addMissing(runs, b, a, comparison.precision, twins.runs);
    addMissing(runs, a, b, comparison.precision, twins.runs);
    // Pairs with a failed run will have no outcome; the others have one, or will.
    const int expected_pairs = static_cast<int>(comparison.pairs.size() + twins.runs.size()) -
                               comparison.count(Outcome::not_recorded);
    const int more = pairsRequired(comparison) - expected_pairs;
    if (!twins.runs.empty()) all.push_back(std::move(twins));
    if (more <= 0) return all;
    FollowUp pairs{FollowUp::Kind::more_pairs, {}};
    std::set<std::int64_t> used_seeds;
    for (const RunGroup* group : {&a, &b})
        for (const auto& [data, model] : seedsOf(runs, *group))
            used_seeds.insert({data, model});
    Specification first = a.specification;
    first.device = deviceOf(runs, comparison, a);
    for (std::int64_t seed = 0; static_cast<int>(pairs.runs.size()) < 2 * more; ++seed) {
        if (used_seeds.contains(seed)) continue;
        first = withSeeds(first, {seed, seed});
        pairs.runs.push_back(first);
        pairs.runs.push_back(makeTwin(b, first));
    }
    all.push_back(std::move(pairs));
    return all;
}

}  // namespace roper
