#include "core/explorer/distance_profile.h"

#include <map>

namespace roper {

std::vector<DistanceScores> scoresByDistance(const ScoreRule& rule, const HeadVectors& heads, double shift,
                                             int most_queries) {
    struct Sum {
        double sum = 0, least = 0, greatest = 0;
        int count = 0;
    };
    std::map<int, Sum> by_distance;
    const int T = heads.tokens();
    const int step = std::max(1, (T + most_queries - 1) / most_queries);
    // Starts with the last query, which has the longest distances.
    for (int query = T - 1; query >= 0; query -= step) {
        const Eigen::VectorXd row = scoreRow(rule, heads, query, shift);
        const int last = rule.causal ? query : T - 1;
        for (int key = 0; key <= last; ++key) {
            Sum& at = by_distance[query - key];
            const double score = row[key];
            at.least = at.count == 0 ? score : std::min(at.least, score);
            at.greatest = at.count == 0 ? score : std::max(at.greatest, score);
            at.sum += score;
            ++at.count;
        }
    }
    std::vector<DistanceScores> profile;
    for (const auto& [distance, at] : by_distance)
        profile.push_back({distance, at.sum / at.count, at.least, at.greatest});
    return profile;
}

}  // namespace roper
