#include "core/rotary/scores.h"

#include <cmath>
#include <cstdlib>

namespace roper {

double relativeScore(const Rotary& rotary, const Eigen::VectorXd& q, double n, const Eigen::VectorXd& k,
                     double j) {
    return rotate(rotary, q, n).dot(rotate(rotary, k, j));
}

Eigen::MatrixXd attentionWeights(const Eigen::MatrixXd& scores, bool causal) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(scores.rows(), scores.cols());
    for (Eigen::Index n = 0; n < scores.rows(); ++n) {
        const Eigen::Index keys = causal ? std::min(n + 1, scores.cols()) : scores.cols();
        // Subtracting the row's maximum does not change softmax and avoids overflow of exp.
        const double largest = scores.row(n).head(keys).maxCoeff();
        weights.row(n).head(keys) = (scores.row(n).head(keys).array() - largest).exp();
        weights.row(n).head(keys) /= weights.row(n).head(keys).sum();
    }
    return weights;
}

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
        const double mean_weight = weight / static_cast<double>(T - far);
        const bool is_common = 2 * (T - far) >= T;
        if (is_common && mean_weight > statistics.diagonal) {
            statistics.diagonal = mean_weight;
            statistics.diagonal_distance = static_cast<int>(distance);
        }
    }
    statistics.entropy /= static_cast<double>(T);
    statistics.mean_distance /= static_cast<double>(T);
    return statistics;
}

}  // namespace roper
