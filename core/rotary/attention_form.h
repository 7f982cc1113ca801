#pragma once

#include <Eigen/Core>
#include <array>
#include <functional>

#include "core/rotary/head_layout.h"
#include "core/rotary/rotation.h"

namespace roper {

/// Rotation of the queries, keys, values or outputs of an attention layer: each pair of row t turns by
/// direction·(position_t + offset)·θ.
struct TensorRotation {
    Rotary rotary;
    double direction = 1;  ///< 1 forward, −1 back, 0 none; fractions rotate values only partly
    double offset = 0;     ///< added to every position

    /// R(direction·(positions[t] + offset))·X[t] for every row. X [T × d], positions [T].
    Eigen::MatrixXd apply(const Eigen::MatrixXd& X, const Eigen::VectorXd& positions) const;

    /// The angle of pair `pair` at a position, in radians.
    double angle(int pair, double position) const {
        return direction * (position + offset) * rotary.frequency(pair);
    }
};

/// The form of an attention layer: which tensors rotate, in which direction and how fast. RoPE rotates
/// queries and keys; RoPER also rotates values, and outputs back.
struct AttentionForm {
    TensorRotation query, key, value, output;
};

/// Rotates the chosen tensors: queries and keys with the frequencies of `query_key`, values and outputs with
/// those of `value`.
/// @param value_rotation_strength  0 to 1, multiplies the angles of values and outputs
AttentionForm formOf(const RotatedTensors& rotated, const Rotary& query_key, const Rotary& value,
                     double value_rotation_strength = 1.0);

/// @param value_rotation_strength  multiplies the angles of values and outputs: 0 is RoPE, 1 is RoPER
AttentionForm roperForm(const Rotary& query_key, const Rotary& value, double value_rotation_strength = 1.0);

/// Common errors in implementations of rotary attention, all found in publications or public code; explorer
/// pages can simulate them.
enum class Mistake {
    none,
    wrong_pairing,       ///< keys use a different pairing from queries
    wrong_direction,     ///< keys rotate by −jθ
    no_inverse,          ///< RoPER without rotating outputs back by R(−n)
    values_twice,        ///< RoPER's values are rotated twice
    positions_from_one,  ///< queries count positions from 1, keys from 0
    model_width,  ///< frequencies computed from the width of a model with kModelHeads heads, not of one head
    exponent_without_pair,  ///< b^(−d) instead of b^(−2i/d): all pairs i have the same frequency
};

/// The names of these values in the setups of explorer pages (core/explorer/setup.h).
template <>
inline constexpr EnumNames<8> kEnumNames<Mistake>{
    "mistake",
    {"none", "wrong_pairing", "wrong_direction", "no_inverse", "values_twice", "positions_from_one",
     "model_width", "exponent_without_pair"}};

/// All mistakes, without `none`.
inline constexpr std::array kMistakes = {Mistake::wrong_pairing,        Mistake::wrong_direction,
                                         Mistake::no_inverse,           Mistake::values_twice,
                                         Mistake::positions_from_one,   Mistake::model_width,
                                         Mistake::exponent_without_pair};

/// Number of heads of the model assumed by `Mistake::model_width`.
inline constexpr int kModelHeads = 8;

/// How to recompute the frequencies for the mistakes `model_width` and `exponent_without_pair`.
struct FrequencyRule {
    double base;
    std::function<Eigen::VectorXd(int rotated_width)> for_rotated_width;
};

/// Introduces one mistake into correct rotations.
AttentionForm withMistake(AttentionForm form, Mistake mistake, const FrequencyRule& frequencies);

/// Whether the mistake concerns values, which plain RoPE does not rotate.
bool affectsValues(Mistake mistake);

/// Whether the mistake can occur if these tensors rotate. A mistake concerns either queries and keys, or
/// values and outputs, and both tensors of that pair must rotate.
bool appliesTo(Mistake mistake, const RotatedTensors& rotated);

/// Whether results change when all positions are shifted. Otherwise scores still depend only on distance, but
/// in a wrong way, and only a comparison with correct rotations reveals the mistake.
bool isRevealedByShift(Mistake mistake);

}  // namespace roper
