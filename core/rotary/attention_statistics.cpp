#include "core/rotary/attention_statistics.h"

#include <cmath>

namespace roper {

HeadStatistics headStatistics(const Eigen::MatrixXd& weights) {
    HeadStatistics statistics;
    const Eigen::Index T = weights.rows();
    if (T == 0) return statistics;
    Eigen::VectorXd by_distance = Eigen::VectorXd::Zero(T);
    for (Eigen::Index n = 0; n < T; ++n) {
        for (Eigen::Index j = 0; j <= n; ++j) {
            const double a = weights(n, j);
            if (a > 0) statistics.entropy -= a * std::log(a);
            by_distance[n - j] += a;
        }
    }
    for (Eigen::Index distance = 0; distance < T; ++distance) {
        statistics.mean_distance += static_cast<double>(distance) * by_distance[distance];
        // Only queries that have a key so far back can look there.
        const double share = by_distance[distance] / static_cast<double>(T - distance);
        const bool is_common = 2 * (T - distance) >= T;
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
