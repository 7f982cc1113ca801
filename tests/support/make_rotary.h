#pragma once

#include "core/rotary/rotary_config.h"

namespace roper {

/// The unscaled rotation of a head.
inline Rotary makeRotary(int head_dim, Pairing pairing, double base = 10000,
                         FrequencyFormula formula = FrequencyFormula::standard, double fraction = 1) {
    return RotaryConfig{.head_dim = head_dim,
                        .rotary_fraction = fraction,
                        .base = base,
                        .frequency_formula = formula,
                        .pairing = pairing}
        .rotationForLength(1);
}

}  // namespace roper
