#pragma once

#include <optional>

#include "core/rotary/pairing.h"
#include "core/rotary/scaling.h"

namespace roper {

/// How the heads of some layers of a model rotate queries and keys, or values.
struct RotaryConfig {
    int width = 0;  ///< features of a head that rotate; 0: none
    double base = 10000;
    Scaling scaling = {};
    Pairing pairing = Pairing::half;  ///< as the stored weights have it
    FrequencyFormula formula = FrequencyFormula::standard;
    ValueVector trained = {};  ///< θ of each pair, where they are not computed from the base
    int head_dim = 0;          ///< features of a head; 0: not said
    int first = 0;             ///< feature that the rotating ones begin with
    /// r in the exponents −2i/r, where it is not `width`: a share of the head that is odd (transformers
    /// rounds the features that rotate up, and not r).
    int exponent_width = 0;

    /// θ and attention factor in a text of so many tokens; `base_now` and `scaling_now` stand in for its own.
    /// @throws std::invalid_argument as `scaledFrequencies`
    ScaledFrequencies frequencies(double tokens, std::optional<double> base_now = {},
                                  const std::optional<Scaling>& scaling_now = {}) const;

    bool operator==(const RotaryConfig&) const = default;
};

}  // namespace roper
