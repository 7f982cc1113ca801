#include "core/rotary/rotary_config.h"

namespace roper {

ScaledFrequencies RotaryConfig::frequencies(double tokens, std::optional<double> base_now,
                                            const std::optional<Scaling>& scaling_now) const {
    const Scaling& by = scaling_now ? *scaling_now : scaling;
    ScaledFrequencies computed =
        scaledFrequencies(width, base_now.value_or(base), formula, by, tokens, exponent_width);
    if (trained.size() == 0 || base_now) return computed;
    // Trained frequencies are changed by the same factors as fixed ones.
    const Eigen::VectorXd unscaled =
        scaledFrequencies(width, base, formula, {}, tokens, exponent_width).theta;
    computed.theta = (computed.theta.array() / unscaled.array() * trained.array()).matrix();
    return computed;
}

}  // namespace roper
