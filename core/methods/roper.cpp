#include "core/methods/position_method.h"

namespace roper {

// Published independently in 2026 as RoVE, rotary value embeddings (arXiv 2606.11275), with GPT-2 models of
// 124 M and 354 M parameters; the operation is the same.
PositionMethod roperMethod() {
    PositionMethod method = methodThatRotates(kRoperTensors);
    method.name = "roper";
    method.title = "RoPER";
    method.summary =
        "Like RoPE, but values are also rotated before they are mixed, and the result is rotated back, so "
        "that the output itself encodes how far away each value was.";
    method.source = "Harik & Jayasiri 2022; again as RoVE, arXiv 2606.11275, 2026";
    method.formula =
        "s = (R(n)q)·(R(j)k)/√d: the same scores and weights as RoPE; in addition, the values rotate";
    method.color = 0xd55e00;
    return method;
}

}  // namespace roper
