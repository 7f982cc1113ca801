#include "core/methods/position_method.h"

namespace roper {

PositionMethod noneMethod() {
    PositionMethod method;
    method.name = "none";
    method.title = "no positions";
    method.summary = "No position information; a causal model can still count the tokens that it sees.";
    method.source = "Haviv et al. 2022";
    method.formula = "s = q·k/√d: no position at all";
    method.extrapolation = "nothing changes, but attention spreads over more tokens than in training";
    method.color = 0x808080;
    return method;
}

}  // namespace roper
