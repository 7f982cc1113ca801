#pragma once

#include <Eigen/Core>

namespace roper {

/// Sinusoids added to embeddings: feature 2i at position p is sin(p·base^(−2i/width)), feature 2i + 1 the
/// cosine of the same angle (Vaswani et al. 2017, 3.5) → [positions × width]
/// @param first  position of the first row
/// @throws std::invalid_argument unless positions and width are above 0 and base above 1
Eigen::MatrixXd sinusoidTable(int positions, int width, double base = 10000.0, int first = 0);

}  // namespace roper
