#include "core/questions/attention_by_distance.h"

#include <cmath>
#include <limits>

namespace roper {

AttentionByDistance attentionByDistance(const Eigen::MatrixXd& weights) {
    AttentionByDistance by_distance;
    for (Eigen::Index distance = 0; distance < weights.rows(); ++distance) {
        double weight = 0, score = 0;
        Eigen::Index seen = 0;
        for (Eigen::Index n = distance; n < weights.rows(); ++n) {
            const double at_distance = weights(n, n - distance), own = weights(n, n);
            weight += at_distance;
            if (at_distance <= 0 || own <= 0) continue;
            score += std::log(at_distance / own);
            ++seen;
        }
        by_distance.weight.push_back(weight / static_cast<double>(weights.rows() - distance));
        by_distance.score.push_back(seen > 0 ? score / static_cast<double>(seen)
                                             : std::numeric_limits<double>::quiet_NaN());
    }
    return by_distance;
}

}  // namespace roper
