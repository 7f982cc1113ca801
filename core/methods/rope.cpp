#include "core/methods/position_method.h"

namespace roper {

PositionMethod ropeMethod() {
    PositionMethod method = methodThatRotates();
    method.name = "rope";
    method.title = "RoPE";
    method.summary =
        "Each pair of features of queries and keys is rotated by its position, so that scores depend "
        "only on distance.";
    method.source = "Su et al. 2021";
    method.formula = "s = (R(n)q)·(R(j)k)/√d";
    method.color = 0x0072b2;
    return method;
}

}  // namespace roper
