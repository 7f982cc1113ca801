#pragma once

#include <Eigen/Core>

#include "core/rotary/enum_names.h"

namespace roper {

/// How a pair's frequency depends on its index.
enum class FrequencyFormula {
    standard,        ///< θ_i = b^(−2i/d), Su et al. 2021
    worked_example,  ///< ω_i = b^(−i/d), as in the worked example: half the decay of the standard
};

/// The names of these values in specifications and setups.
template <>
inline constexpr EnumNames<2> kEnumNames<FrequencyFormula>{"frequency formula",
                                                           {"standard", "worked_example"}};

/// Frequencies θ_i of the pairs i = 0 … rotated_width/2 − 1, in radians per position, fastest first.
/// @param rotated_width  number of features that rotate: even, at least 2
/// @param base           b > 1; 10000 by convention
/// @param exponent_width  replaces d in the exponents; 0: rotated_width
/// @throws std::invalid_argument for an odd or non-positive width, or a base not above 1
Eigen::VectorXd frequencies(int rotated_width, double base = 10000.0,
                            FrequencyFormula formula = FrequencyFormula::standard, int exponent_width = 0);

/// Wavelengths λ_i = 2π/θ_i, in positions per full rotation.
Eigen::VectorXd wavelengths(const Eigen::VectorXd& theta);

/// Sinusoids added to embeddings: feature 2i at position p is sin(p·base^(−2i/width)), feature 2i + 1 the
/// cosine of the same angle (Vaswani et al. 2017, section 3.5) → [positions × width]
/// @param first  position of the first row
/// @throws std::invalid_argument unless positions and width are above 0 and base above 1
Eigen::MatrixXd sinusoidTable(int positions, int width, double base = 10000.0, int first = 0);

}  // namespace roper
