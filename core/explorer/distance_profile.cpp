#include "core/explorer/distance_profile.h"

#include <map>

namespace roper {

std::vector<DistanceScores> scoresByDistance(const ScoreRule& rule, const HeadVectors& heads, double shift,
                                             int max_queries) {
    struct Sum {
        double sum = 0, minimum = 0, maximum = 0;
        int count = 0;
    };
    std::map<int, Sum> by_distance;
    const int T = heads.tokens();
    const int step = std::max(1, (T + max_queries - 1) / max_queries);
    // Starts with the last query, which has the longest distances.
    for (int query = T - 1; query >= 0; query -= step) {
        const Eigen::VectorXd row = scoreRow(rule, heads, query, shift);
        const int last = rule.causal ? query : T - 1;
        for (int key = 0; key <= last; ++key) {
            Sum& at = by_distance[query - key];
            const double score = row[key];
            at.minimum = at.count == 0 ? score : std::min(at.minimum, score);
            at.maximum = at.count == 0 ? score : std::max(at.maximum, score);
            at.sum += score;
            ++at.count;
        }
    }
    std::vector<DistanceScores> profile;
    for (const auto& [distance, at] : by_distance)
        profile.push_back({distance, at.sum / at.count, at.minimum, at.maximum});
    return profile;
}

}  // namespace roper
