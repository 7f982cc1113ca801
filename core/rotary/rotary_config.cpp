#include "core/rotary/rotary_config.h"

#include <cmath>

namespace roper {

int RotaryConfig::rotatedWidth() const {
    const int features = static_cast<int>(std::floor(rotary_fraction * head_dim + 1e-9));
    return features - features % 2;
}

ScaledFrequencies RotaryConfig::frequenciesForLength(double tokens, std::optional<double> base_override,
                                                     const std::optional<Scaling>& scaling_override) const {
    const int width = rotatedWidth();
    if (width == 0) return {};
    const auto with = [&](const Scaling& by) {
        return scaledFrequencies(width, base_override.value_or(base), frequency_formula, by, tokens,
                                 exponent_width);
    };
    ScaledFrequencies computed = with(scaling_override ? *scaling_override : scaling);
    // Trained frequencies are scaled by the same factors as fixed ones.
    if (!base_override && trained.size() == computed.theta.size())
        computed.theta = (computed.theta.array() / with({}).theta.array() * trained.array()).matrix();
    computed.theta *= frequency_factor;
    return computed;
}

}  // namespace roper
