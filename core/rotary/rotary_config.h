#pragma once

#include <cstdint>
#include <optional>

#include "core/rotary/rotation.h"
#include "core/rotary/scaling.h"

namespace roper {

/// Rotation of queries and keys, or of values, for the layers of a published model, a run, or an explorer
/// page.
struct RotaryConfig {
    int head_dim = 0;                               ///< width of a head; 0: unspecified
    double rotary_fraction = 1;                     ///< fraction of the features that rotates
    RotatedPart rotated_part = RotatedPart::first;  ///< position of the rotating features in a head
    double base = 10000;
    FrequencyFormula frequency_formula = FrequencyFormula::standard;
    Pairing pairing = Pairing::half;  ///< for the weights as stored
    Scaling scaling = {};
    ComparableVector trained = {};  ///< θ of each pair; empty: computed from the base
    /// Multiplies all frequencies, including scaled and trained ones; below 1 for values that rotate more
    /// slowly than keys.
    double frequency_factor = 1;
    /// r in the exponents −2i/r; 0: the rotated width. If rotary_fraction·head_dim is odd, transformers
    /// rounds the number of rotating features up, but not r.
    int exponent_width = 0;

    /// Number of rotating features, rounded down to an even number.
    int rotatedWidth() const;
    /// Number of rotating pairs.
    int pairs() const { return rotatedWidth() / 2; }
    /// Index of the first rotating feature.
    int firstRotated() const { return rotated_part == RotatedPart::last ? head_dim - rotatedWidth() : 0; }
    /// Where the two features of a pair are in a head.
    PairFeatures features(int pair) const {
        return featuresOfPair(pairing, rotatedWidth(), pair, firstRotated());
    }

    /// Frequencies and attention factor for a text of this many tokens; no frequencies if nothing rotates.
    /// `base_override` and `scaling_override` replace the members `base` and `scaling`.
    /// @throws std::invalid_argument like `scaledFrequencies`
    ScaledFrequencies frequenciesForLength(double tokens, std::optional<double> base_override = {},
                                           const std::optional<Scaling>& scaling_override = {}) const;
    /// The rotation for a text of this many tokens.
    Rotary rotationForLength(double tokens) const {
        return {head_dim, pairing, frequenciesForLength(tokens).theta, firstRotated()};
    }

    bool operator==(const RotaryConfig&) const = default;
};

/// A configuration in which no feature rotates.
inline RotaryConfig unrotatedConfig(std::int64_t head_dim) {
    return {.head_dim = static_cast<int>(head_dim), .rotary_fraction = 0};
}

}  // namespace roper
