#pragma once

#include <Eigen/Core>

namespace roper {

/// cos(δθ_i) for every pair and distance δ = 0 … distances − 1: [pairs × distances].
Eigen::MatrixXd cosineMap(const Eigen::VectorXd& theta, int distances);

/// Long-term decay by distance δ = 0 … distances − 1: (1/(d/2)) Σ_{j=1}^{d/2} |S_j| with S_j = Σ_{i<j}
/// e^{√−1·δθ_i}, to which a bound on scores is proportional. (Su et al. 2021; figure: d = 128, δ = 0 … 256)
Eigen::VectorXd decayCurve(const Eigen::VectorXd& theta, int distances);

/// Long-term decay of xPos, whose pair i is also multiplied by ζ_i^{δ/512} (`xposBase`).
Eigen::VectorXd xposDecayCurve(const Eigen::VectorXd& theta, int distances);

/// B(δ) = Σ_i cos(δθ_i) for δ = 0 … length. A similar token at distance δ is distinguished from a random one
/// only while B(δ) ≥ 0. (Xu et al. 2024, arXiv 2405.14591)
Eigen::VectorXd baseBound(const Eigen::VectorXd& theta, int length);

/// The first δ ≥ 1 with B(δ) < 0, or −1 if there is none.
int firstNegative(const Eigen::VectorXd& base_bound);

/// Number of pairs that complete at least one rotation within `length` positions.
int pairsCompletingRotation(const Eigen::VectorXd& theta, double length);

}  // namespace roper
