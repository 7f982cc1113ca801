#include "core/methods/position_method.h"

namespace roper {

PositionMethod sinusoidalMethod() {
    PositionMethod method;
    method.name = "sinusoidal";
    method.title = "sinusoids";
    method.summary = "Fixed sines and cosines of the position are added to the embeddings.";
    method.source = "Vaswani et al. 2017";
    method.formula =
        "x<sub>n</sub> + p<sub>n</sub>, p<sub>n,2i</sub> = sin nθ<sub>i</sub>, p<sub>n,2i+1</sub> = "
        "cos nθ<sub>i</sub>";
    method.extrapolation = "sums of sines never seen in training";
    method.color = 0x7b52ab;
    method.relevant_fields = {"base"};
    method.adds_to_embeddings = true;
    return method;
}

}  // namespace roper
