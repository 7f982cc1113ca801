#pragma once

#include <Eigen/Core>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "core/rotary/rotation.h"

namespace roper {

/// One of the four places where attention may rotate: row t rotates by direction·(position_t + offset).
struct RotationStep {
    Rotary rotary;
    double direction = 1;  ///< 1 forward, −1 back, 0 not at all; RoPER's blend lies between
    double offset = 0;     ///< added to every position

    /// R(direction·(positions[t] + offset))·X[t] for every row. X [T × d], positions [T].
    Eigen::MatrixXd apply(const Eigen::MatrixXd& X, const Eigen::VectorXd& positions) const;

    /// The angle of pair `pair` at a position, in radians.
    double angle(int pair, double position) const {
        return direction * (position + offset) * rotary.frequency(pair);
    }
};

/// Where and how an attention rotates. RoPE rotates queries and keys; RoPER rotates values and, back, the
/// output too.
struct AttentionForm {
    RotationStep query, key, value, output;
};

AttentionForm ropeForm(const Rotary& query_key);

/// @param blend  share of the value rotation: 0 is RoPE, 1 is RoPER
AttentionForm roperForm(const Rotary& query_key, const Rotary& value, double blend = 1.0);

/// What people get wrong when they write rotary attention (each has been seen in print or in public code).
enum class Mistake {
    none,
    wrong_pairing,          ///< keys are paired the other way than queries
    wrong_direction,        ///< keys rotate by −j
    no_inverse,             ///< RoPER without R(−n)
    values_twice,           ///< RoPER's values rotated twice
    positions_from_one,     ///< queries count positions from 1, keys from 0
    model_width,            ///< frequencies of the model's width, kModelHeads heads, in place of the head's
    exponent_without_pair,  ///< b^(−d) in place of b^(−2i/d): all pairs alike
};

/// Their names in setups, in this order.
inline const std::vector<std::string>& mistakeNames() {
    static const std::vector<std::string> names = {
        "none",         "wrong_pairing",      "wrong_direction", "no_inverse",
        "values_twice", "positions_from_one", "model_width",     "exponent_without_pair"};
    return names;
}

inline constexpr std::array kMistakes = {Mistake::wrong_pairing,        Mistake::wrong_direction,
                                         Mistake::no_inverse,           Mistake::values_twice,
                                         Mistake::positions_from_one,   Mistake::model_width,
                                         Mistake::exponent_without_pair};

/// Heads of the model whose width is taken for the head's in `Mistake::model_width`.
inline constexpr int kModelHeads = 8;

/// How the frequencies of a mistake are made: those of a rotated width, and the base.
struct FrequencyRule {
    double base;
    std::function<Eigen::VectorXd(int rotated_width)> of_width;
};

/// The right form with one mistake made in it.
AttentionForm withMistake(AttentionForm form, Mistake mistake, const FrequencyRule& frequencies);

/// Whether the mistake is made with values, which RoPE alone does not rotate.
bool isAboutValues(Mistake mistake);

/// Whether moving the whole sentence shows the mistake. The others still make scores depend on distance
/// alone, but on the wrong one; only the comparison with the right form shows them.
bool isSeenByShift(Mistake mistake);

}  // namespace roper
