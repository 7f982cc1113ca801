#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/rotary/rotation.h"

namespace roper {

/// What a head makes of a token δ positions back, whatever its weight: K(δ) = W_O R(−δ) W_V, so that its
/// output is Σ_j a_nj K(n − j) x_j, a convolution whose taps attention weighs (the view of RoVE, arXiv
/// 2606.11275). Where values do not rotate, K is the same at every distance.
struct ValueKernel {
    std::vector<double> norm;  ///< ‖K(δ)‖, Frobenius, for δ = 0, 1, …
    std::vector<double> cosine;  ///< ⟨K(δ), K(0)⟩ / ‖K(δ)‖‖K(0)‖: 1 where the direction is that of δ = 0
};

/// @param output_weight  W_O of the head [C × d]: its columns of the output projection
/// @param value_weight   W_V of the head [d × C]
/// @param values         how values rotate
/// @param distances      how many, from 0 on
ValueKernel valueKernel(const Eigen::MatrixXd& output_weight, const Eigen::MatrixXd& value_weight,
                        const Rotary& values, int distances);

/// K(δ) itself [C × C].
Eigen::MatrixXd kernelAt(const Eigen::MatrixXd& output_weight, const Eigen::MatrixXd& value_weight,
                         const Rotary& values, double distance);

}  // namespace roper
