#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/rotary/rotation.h"

namespace roper {

/// Value kernel of a head: the linear map from a token δ positions back to the head's output at weight 1,
/// K(δ) = W_O R(−δ) W_V. The output is Σ_j a_nj K(n − j) x_j, a convolution whose taps are weighted by
/// attention (the view of RoVE, arXiv 2606.11275). Without value rotation K is the same at every distance.
struct ValueKernel {
    std::vector<double> norm;  ///< ‖K(δ)‖, Frobenius, for δ = 0, 1, …
    std::vector<double> cosine;  ///< ⟨K(δ), K(0)⟩ / ‖K(δ)‖‖K(0)‖: 1 if the direction equals that at δ = 0
};

/// @param output_weight  W_O of the head [C × d]: its columns of the output projection
/// @param value_weight   W_V of the head [d × C]
/// @param values         rotation of the values
/// @param distances      number of distances, from 0 on
ValueKernel valueKernel(const Eigen::MatrixXd& output_weight, const Eigen::MatrixXd& value_weight,
                        const Rotary& values, int distances);

/// K(δ) [C × C].
Eigen::MatrixXd kernelAt(const Eigen::MatrixXd& output_weight, const Eigen::MatrixXd& value_weight,
                         const Rotary& values, double distance);

}  // namespace roper
