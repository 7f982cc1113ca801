#include "core/inspection/band_use.h"

namespace roper {
namespace {

/// Sums of features by the pair that they belong to; what does not rotate is the last.
Eigen::VectorXd byPair(const Eigen::VectorXd& features, Pairing pairing, int width) {
    Eigen::VectorXd sums(width / 2 + 1);
    for (int pair = 0; pair < width / 2; ++pair) {
        const PairFeatures of = featuresOfPair(pairing, width, pair);
        sums[pair] = features[of.first] + features[of.second];
    }
    sums[width / 2] = features.tail(features.size() - width).sum();
    return sums;
}

}  // namespace

BandUse bandUse(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, Pairing pairing, int width,
                Eigen::Index window) {
    const Eigen::Index T = Q.rows(), d = Q.cols();
    // Of the keys that the query sees: Σ k kᵀ and Σ k, with one key added, and one taken away, at a time.
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(d, d);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(d), covariances = Eigen::VectorXd::Zero(d);
    for (Eigen::Index n = 0; n < T; ++n) {
        const auto add = [&](Eigen::Index key, double sign) {
            const Eigen::VectorXd k = K.row(key);
            squares.selfadjointView<Eigen::Lower>().rankUpdate(k, sign);
            sum += sign * k;
        };
        add(n, 1);
        if (n >= window) add(n - window, -1);
        const double keys = static_cast<double>(std::min(n + 1, window));
        const Eigen::VectorXd q = Q.row(n), mean = sum / keys;
        const Eigen::VectorXd with_score =
            (squares.selfadjointView<Eigen::Lower>() * q) / keys - mean * mean.dot(q);  // cov_j(k_j, s_nj)
        covariances += q.cwiseProduct(with_score);
    }
    const Eigen::VectorXd of_pairs = byPair(covariances, pairing, width);
    const double variance = of_pairs.sum();
    BandUse use;
    use.variance = variance / static_cast<double>(T);
    use.share = Eigen::VectorXd::Zero(width / 2);
    if (!(variance > 0)) return use;
    use.share = of_pairs.head(width / 2) / variance;
    use.rest = of_pairs[width / 2] / variance;
    return use;
}

}  // namespace roper
