#include "core/questions/reach.h"

#include <cmath>
#include <limits>

namespace roper {

Reach reachOf(const Eigen::MatrixXd& weights) {
    Reach reach;
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
        reach.weight.push_back(weight / static_cast<double>(weights.rows() - distance));
        reach.score.push_back(seen > 0 ? score / static_cast<double>(seen)
                                       : std::numeric_limits<double>::quiet_NaN());
    }
    return reach;
}

}  // namespace roper
