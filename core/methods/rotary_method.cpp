#include "core/methods/position_method.h"

namespace roper {
namespace {

/// Number of trained frequencies: one per pair and layer. Shared keys and values rotate by the same ones.
std::int64_t trainedFrequencies(const PositionSettings& s, const ModelShape& shape) {
    if (s.frequencies != "trained") return 0;
    const int features = s.rotation(shape.headDim()).rotatedWidth() +
                         (s.shared_kv ? 0 : s.valueRotation(shape.headDim()).rotatedWidth());
    return shape.layers * features / 2;
}

}  // namespace

PositionMethod methodThatRotates(RotatedTensors rotated) {
    PositionMethod method;
    method.relevant_fields = {"pairing",           "rotary_fraction", "base",
                              "frequency_formula", "frequencies",     "frequency_rate",
                              "no_rotation_every", "rotated_part"};
    if (rotated.anyOfValues())
        method.relevant_fields.insert(method.relevant_fields.end(), valueRotationFields().begin(),
                                      valueRotationFields().end());
    method.rotated = rotated;
    method.parameters = trainedFrequencies;
    method.extrapolation =
        "slow pairs reach angles never seen in training; frequencies can be scaled (linear, NTK, YaRN, "
        "…)";
    return method;
}

const std::vector<std::string>& valueRotationFields() {
    static const std::vector<std::string> fields = {"value_rotary_fraction", "value_rotation_strength",
                                                    "value_rotation_warmup"};
    return fields;
}

}  // namespace roper
