#include "core/questions/value_kernel.h"

#include <algorithm>
#include <cmath>

namespace roper {
namespace {

/// R(m) M for a matrix [d × n].
Eigen::MatrixXd rotatedColumns(const Rotary& rotary, const Eigen::MatrixXd& M, double m) {
    return rotateRows(rotary, M.transpose(), Eigen::VectorXd::Constant(M.cols(), m)).transpose();
}

}  // namespace

ValueKernel valueKernel(const Eigen::MatrixXd& output_weight, const Eigen::MatrixXd& value_weight,
                        const Rotary& values, int distances) {
    // ⟨W_O X W_V, W_O Y W_V⟩ = tr(Xᵀ A Y B) with A = W_Oᵀ W_O and B = W_V W_Vᵀ, both d × d regardless of the
    // model's width.
    const Eigen::MatrixXd A = output_weight.transpose() * output_weight,
                          B = value_weight * value_weight.transpose();
    ValueKernel kernel;
    double first = 0;
    for (int distance = 0; distance < distances; ++distance) {
        const Eigen::MatrixXd RB = rotatedColumns(values, B, -distance);
        const Eigen::MatrixXd RBR = rotatedColumns(values, RB.transpose(), -distance);  // R(−δ) B R(−δ)ᵀ
        const double norm = std::sqrt(std::max(0.0, A.cwiseProduct(RBR).sum()));
        if (distance == 0) first = norm;
        kernel.norm.push_back(norm);
        kernel.cosine.push_back(
            norm * first > 0 ? std::clamp(A.cwiseProduct(RB).sum() / (norm * first), -1.0, 1.0) : 0);
    }
    return kernel;
}

Eigen::MatrixXd kernelAt(const Eigen::MatrixXd& output_weight, const Eigen::MatrixXd& value_weight,
                         const Rotary& values, double distance) {
    return output_weight * rotatedColumns(values, value_weight, -distance);
}

}  // namespace roper
