#include "core/rotary/attention_statistics.h"

#include <cmath>
#include <cstdlib>

namespace roper {

HeadStatistics headStatistics(const Eigen::MatrixXd& weights, bool causal) {
    HeadStatistics statistics;
    const Eigen::Index T = weights.rows();
    if (T == 0) return statistics;
    Eigen::VectorXd by_distance = Eigen::VectorXd::Zero(2 * T - 1);  // for n − j = 1 − T … T − 1
    for (Eigen::Index n = 0; n < T; ++n) {
        for (Eigen::Index j = 0; j < (causal ? n + 1 : T); ++j) {
            const double a = weights(n, j);
            if (a > 0) statistics.entropy -= a * std::log(a);
            by_distance[n - j + T - 1] += a;
        }
    }
    for (Eigen::Index distance = 1 - T; distance < T; ++distance) {
        const Eigen::Index far = std::abs(distance);
        const double weight = by_distance[distance + T - 1];
        statistics.mean_distance += static_cast<double>(far) * weight;
        // Mean over the queries that have a key at this distance.
        const double share = weight / static_cast<double>(T - far);
        const bool is_common = 2 * (T - far) >= T;
        if (is_common && share > statistics.diagonal) {
            statistics.diagonal = share;
            statistics.diagonal_distance = static_cast<int>(distance);
        }
    }
    statistics.entropy /= static_cast<double>(T);
    statistics.mean_distance /= static_cast<double>(T);
    return statistics;
}

}  // namespace roper
