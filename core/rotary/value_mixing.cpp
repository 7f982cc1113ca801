#include "core/rotary/value_mixing.h"

namespace roper {

ValueMixing mixValuesInThreeSteps(const Rotary& rotary, const Eigen::MatrixXd& weights,
                                  const Eigen::MatrixXd& V, const Eigen::VectorXd& positions) {
    ValueMixing steps;
    steps.rotated = rotateRows(rotary, V, positions);
    steps.mixed = weights * steps.rotated;
    steps.output = rotateRowsBack(rotary, steps.mixed, positions);
    return steps;
}

Eigen::MatrixXd mixValuesInOneStep(const Rotary& rotary, const Eigen::MatrixXd& weights,
                                   const Eigen::MatrixXd& V, const Eigen::VectorXd& positions) {
    Eigen::MatrixXd output = Eigen::MatrixXd::Zero(V.rows(), V.cols());
    for (Eigen::Index n = 0; n < weights.rows(); ++n) {
        for (Eigen::Index j = 0; j < weights.cols(); ++j) {
            if (weights(n, j) == 0.0) continue;
            output.row(n) +=
                weights(n, j) * rotate(rotary, V.row(j), positions[j] - positions[n]).transpose();
        }
    }
    return output;
}

}  // namespace roper
