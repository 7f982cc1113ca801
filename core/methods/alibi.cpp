#include <cmath>

#include "core/methods/position_method.h"
#include "core/rotary/position_bias.h"

namespace roper {

PositionMethod alibiMethod() {
    PositionMethod method;
    method.name = "alibi";
    method.title = "ALiBi";
    method.summary = "Scores fall with distance, with a different slope for each head.";
    method.source = "Press et al. 2021";
    method.formula = "s = q·k/√d − 2<sup>−8h/H</sup>·(n − j)";
    method.extrapolation =
        "distant tokens count less and less, so long texts are read mainly through nearby tokens";
    method.color = 0xb5179e;
    method.biases_scores = true;
    method.bias = [](const HeadContext& head) {
        const double slope = alibiSlope(head.head + 1, head.heads);
        return [slope](int distance) { return -slope * std::abs(distance); };
    };
    return method;
}

}  // namespace roper
