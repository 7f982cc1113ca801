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
    RotatedPart rotated_part = RotatedPart::first;  ///< where the rotating features are
    double base = 10000;
    FrequencyFormula frequency_formula = FrequencyFormula::standard;
    Pairing pairing = Pairing::half;  ///< of the stored weights
    Scaling scaling = {};
    ComparableVector trained = {};  ///< θ of each pair, if not computed from the base
    /// Factor of all frequencies, also of scaled and trained ones; below 1 for values that rotate more slowly
    /// than keys.
    double frequency_factor = 1;
    /// r in the exponents −2i/r, if it differs from the rotated width: for an odd share of the head,
    /// transformers rounds the number of rotating features up, but not r.
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

    /// θ and attention factor for a text of this many tokens; without θ if nothing rotates. `base_override`
    /// and `scaling_override` replace the config's own.
    /// @throws std::invalid_argument as `scaledFrequencies`
    ScaledFrequencies frequenciesForLength(double tokens, std::optional<double> base_override = {},
                                           const std::optional<Scaling>& scaling_override = {}) const;
    /// The rotation with the frequencies for such a text.
    Rotary rotationForLength(double tokens) const {
        return {head_dim, pairing, frequenciesForLength(tokens).theta, firstRotated()};
    }

    bool operator==(const RotaryConfig&) const = default;
};

/// For heads that do not rotate.
inline RotaryConfig unrotatedConfig(std::int64_t head_dim) {
    return {.head_dim = static_cast<int>(head_dim), .rotary_fraction = 0};
}

}  // namespace roper
