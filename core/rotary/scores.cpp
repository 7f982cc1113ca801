#include "core/rotary/scores.h"

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

}  // namespace roper
