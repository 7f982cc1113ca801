#pragma once

#include <Eigen/Core>
#include <array>

#include "core/rotary/enum_names.h"
#include "core/rotary/frequencies.h"
#include "core/rotary/pairing.h"

namespace roper {

/// Which features of a head rotate if only some do.
enum class RotatedPart {
    first,  ///< GPT-J, GPT-NeoX, labml's RoPER
    last,   ///< DeepSeek V4
};

/// The names of these values in setups.
template <>
inline constexpr EnumNames<2> kEnumNames<RotatedPart>{"part", {"first", "last"}};

/// R(m): which features of a head rotate, how they pair, and how fast.
///
/// 2·theta.size() consecutive features rotate; the rest pass through unchanged (partial rotation).
/// A pair (x₁, x₂) at position m becomes (x₁ cos mθ − x₂ sin mθ, x₁ sin mθ + x₂ cos mθ), counter-clockwise
/// for m > 0.
struct Rotary {
    int head_dim = 0;
    Pairing pairing = Pairing::half;
    Eigen::VectorXd theta;  ///< radians per position, one per pair
    int first = 0;          ///< index of the first rotating feature

    int pairs() const { return static_cast<int>(theta.size()); }
    int rotatedWidth() const { return 2 * pairs(); }
    PairFeatures features(int pair) const { return featuresOfPair(pairing, rotatedWidth(), pair, first); }

    /// Number of planes: a plane is a rotating pair or, from index pairs() on, two neighboring features that
    /// do not rotate.
    int planes() const { return head_dim / 2; }
    /// The two features of a plane.
    PairFeatures plane(int index) const {
        if (index < pairs()) return features(index);
        const int unrotated = 2 * (index - pairs());
        const int feature = unrotated < first ? unrotated : unrotated + rotatedWidth();
        return {feature, feature + 1};
    }
    /// θ of a plane; 0 if it does not rotate.
    double frequency(int index) const { return index < pairs() ? theta[index] : 0.0; }
};

/// R(position)·x for one vector x [d]. Negative positions rotate back: R(−m) is the inverse of R(m).
/// @throws std::invalid_argument if x does not have head_dim features
Eigen::VectorXd rotate(const Rotary& rotary, const Eigen::VectorXd& x, double position);

/// R(positions[t])·X[t] for every row t of X [T × d].
Eigen::MatrixXd rotateRows(const Rotary& rotary, const Eigen::MatrixXd& X, const Eigen::VectorXd& positions);

/// x ⊗ cos + x̃ ⊗ sin, where x̃ has (−x₂, x₁) for each pair (x₁, x₂) (Su et al. 2021, eq. 34). [d] → [d]
Eigen::VectorXd rotateElementwise(const Rotary& rotary, const Eigen::VectorXd& x, double position);

/// Each pair as a complex number times e^{imθ}. [d] → [d]
Eigen::VectorXd rotateComplex(const Rotary& rotary, const Eigen::VectorXd& x, double position);

/// The full d × d matrix R(position): block-diagonal for the interleaved pairing, scattered for half-split.
Eigen::MatrixXd rotationMatrix(const Rotary& rotary, double position);

/// One rotation computed in four ways. [d] each
struct FourWays {
    Eigen::VectorXd by_pairs;     ///< a 2 × 2 matrix for each pair: `rotate`
    Eigen::VectorXd elementwise;  ///< x ⊗ cos + x̃ ⊗ sin
    Eigen::VectorXd complex;      ///< each pair times e^{imθ}
    Eigen::VectorXd full_matrix;  ///< the d × d matrix times x

    std::array<const Eigen::VectorXd*, 4> all() const {
        return {&by_pairs, &elementwise, &complex, &full_matrix};
    }
    double largestDifference() const;
};
FourWays rotateFourWays(const Rotary& rotary, const Eigen::VectorXd& x, double position);

/// 0, 1, … T − 1, plus `shift`.
Eigen::VectorXd consecutivePositions(int T, double shift = 0.0);

}  // namespace roper
