#include "core/explorer/mixed_values.h"

namespace roper {

MixedValues mixedValues(const Setup& setup, const Eigen::VectorXd& weights, const Eigen::MatrixXd& V,
                        int query, int key) {
    const MixedTokens mixed_tokens = setup.effectiveMixedTokens();
    if (mixed_tokens == MixedTokens::all) return {weights, V};
    MixedValues mixed{Eigen::VectorXd::Zero(V.rows()), Eigen::MatrixXd(V.rows(), V.cols())};
    for (Eigen::Index i = 0; i < V.cols(); ++i)
        mixed.V.col(i).setConstant(initialFeature(setup, static_cast<int>(i)));
    mixed.weights[key] = mixed_tokens == MixedTokens::one ? 1.0 : 0.5;
    if (mixed_tokens == MixedTokens::two) mixed.weights[query] += 0.5;
    return mixed;
}

}  // namespace roper
