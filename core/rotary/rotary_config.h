#pragma once

#include <cstdint>
#include <optional>

#include "core/rotary/rotation.h"
#include "core/rotary/scaling.h"

namespace roper {

/// How heads rotate queries and keys, or values: of a published model's layers, of a run, or as a person asks
/// to see it.
struct RotaryConfig {
    int head_dim = 0;            ///< features of a head; 0: not said
    double rotary_fraction = 1;  ///< share of them that rotate
    int first = 0;               ///< feature that the rotating ones begin with
    double base = 10000;
    FrequencyFormula frequency_formula = FrequencyFormula::standard;
    Pairing pairing = Pairing::half;  ///< as the stored weights have it
    Scaling scaling = {};
    ValueVector trained = {};  ///< θ of each pair, where they are not computed from the base
    /// r in the exponents −2i/r, where it is not the rotated width: a share of the head that is odd
    /// (transformers rounds the features that rotate up, and not r).
    int exponent_width = 0;

    /// Features of a head that rotate: their share of the head, made even downwards.
    int rotatedWidth() const;

    /// θ and attention factor in a text of so many tokens; no θ where nothing rotates. `base_now` and
    /// `scaling_now` stand in for its own.
    /// @throws std::invalid_argument as `scaledFrequencies`
    ScaledFrequencies frequenciesIn(double tokens, std::optional<double> base_now = {},
                                    const std::optional<Scaling>& scaling_now = {}) const;
    /// With the frequencies of such a text.
    Rotary rotationIn(double tokens) const { return {head_dim, pairing, frequenciesIn(tokens).theta}; }

    bool operator==(const RotaryConfig&) const = default;
};

/// Of heads that do not rotate.
inline RotaryConfig unrotated(std::int64_t head_dim) {
    return {.head_dim = static_cast<int>(head_dim), .rotary_fraction = 0};
}

}  // namespace roper
