#pragma once

#include <Eigen/Core>
#include <array>
#include <functional>

#include "core/rotary/head_layout.h"
#include "core/rotary/rotation.h"

namespace roper {

/// One of the four rotations of an attention layer: row t rotates by direction·(position_t + offset).
struct RotationStep {
    Rotary rotary;
    double direction = 1;  ///< 1 forward, −1 back, 0 none; intermediate values for RoPER's blend
    double offset = 0;     ///< added to every position

    /// R(direction·(positions[t] + offset))·X[t] for every row. X [T × d], positions [T].
    Eigen::MatrixXd apply(const Eigen::MatrixXd& X, const Eigen::VectorXd& positions) const;

    /// The angle of pair `pair` at a position, in radians.
    double angle(int pair, double position) const {
        return direction * (position + offset) * rotary.frequency(pair);
    }
};

/// The rotations of an attention layer. RoPE rotates queries and keys; RoPER also rotates values, and the
/// output back.
struct AttentionForm {
    RotationStep query, key, value, output;
};

/// The form in which these tensors rotate: queries and keys by one rotation, values and outputs by another.
/// @param value_rotation_strength  share of the rotation of values and outputs, 0 to 1
AttentionForm formOf(const RotatedTensors& rotated, const Rotary& query_key, const Rotary& value,
                     double value_rotation_strength = 1.0);

/// @param value_rotation_strength  share of the value rotation: 0 is RoPE, 1 is RoPER
AttentionForm roperForm(const Rotary& query_key, const Rotary& value, double value_rotation_strength = 1.0);

/// Common mistakes in implementations of rotary attention, all found in print or public code.
enum class Mistake {
    none,
    wrong_pairing,       ///< keys use the other pairing than queries
    wrong_direction,     ///< keys rotate by −j
    no_inverse,          ///< RoPER without R(−n): "qkv"
    values_twice,        ///< RoPER's values rotated twice
    positions_from_one,  ///< queries count positions from 1, keys from 0
    model_width,  ///< frequencies for the width of a model with kModelHeads heads instead of the head's width
    exponent_without_pair,  ///< b^(−d) instead of b^(−2i/d): all pairs have the same frequency
};

/// Their names in setups.
template <>
inline constexpr EnumNames<8> kEnumNames<Mistake>{
    "mistake",
    {"none", "wrong_pairing", "wrong_direction", "no_inverse", "values_twice", "positions_from_one",
     "model_width", "exponent_without_pair"}};

inline constexpr std::array kMistakes = {Mistake::wrong_pairing,        Mistake::wrong_direction,
                                         Mistake::no_inverse,           Mistake::values_twice,
                                         Mistake::positions_from_one,   Mistake::model_width,
                                         Mistake::exponent_without_pair};

/// Number of heads of the model whose width is used in `Mistake::model_width`.
inline constexpr int kModelHeads = 8;

/// Computes the frequencies of a mistake from a rotated width and a base.
struct FrequencyRule {
    double base;
    std::function<Eigen::VectorXd(int rotated_width)> for_rotated_width;
};

/// The correct form with one mistake introduced.
AttentionForm withMistake(AttentionForm form, Mistake mistake, const FrequencyRule& frequencies);

/// Whether the mistake concerns values, which plain RoPE does not rotate.
bool affectsValues(Mistake mistake);

/// Whether the mistake can be made where these tensors rotate: one of scores needs queries and keys, one of
/// values needs values and outputs.
bool appliesTo(Mistake mistake, const RotatedTensors& rotated);

/// Whether shifting the whole sentence reveals the mistake. With the others scores still depend only on
/// distance, but on the wrong one; only a comparison with the correct form reveals them.
bool isRevealedByShift(Mistake mistake);

}  // namespace roper
