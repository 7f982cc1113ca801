#include "core/questions/attention_by_distance.h"

#include <cmath>
#include <limits>

namespace roper {

AttentionByDistance attentionByDistance(const Eigen::MatrixXd& weights, bool causal) {
    AttentionByDistance by_distance;
    for (Eigen::Index distance = 0; distance < weights.rows(); ++distance) {
        double weight = 0, score = 0;
        Eigen::Index keys = 0, seen = 0;
        const auto add = [&](Eigen::Index n, Eigen::Index j) {
            const double at_distance = weights(n, j), own = weights(n, n);
            if (std::isnan(at_distance)) return;
            weight += at_distance;
            ++keys;
            if (at_distance <= 0 || own <= 0) return;
            score += std::log(at_distance / own);
            ++seen;
        };
        for (Eigen::Index n = distance; n < weights.rows(); ++n) {
            add(n, n - distance);
            if (!causal && distance > 0) add(n - distance, n);
        }
        by_distance.weight.push_back(weight / static_cast<double>(keys));
        by_distance.score.push_back(seen > 0 ? score / static_cast<double>(seen)
                                             : std::numeric_limits<double>::quiet_NaN());
    }
    return by_distance;
}

}  // namespace roper
