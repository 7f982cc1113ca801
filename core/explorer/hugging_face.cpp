#include "core/explorer/hugging_face.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model_config/rotation_reading.h"

namespace roper {
namespace {

/// A setup with this rotation. @throws Error (usage) for a rotation that a setup cannot represent
Setup setupOf(const RotaryConfig& rotary, Setup setup) {
    if (rotary.head_dim % 2 != 0 || rotary.head_dim > bounds::kMaxHeadDim)
        throw Error(ErrorKind::usage, "heads of " + std::to_string(rotary.head_dim) +
                                          " features cannot be shown; only even widths up to " +
                                          std::to_string(bounds::kMaxHeadDim) + " can");
    if (rotary.exponent_width > 0)
        throw Error(ErrorKind::usage, "partial_rotary_factor makes an odd number of features rotate, " +
                                          std::to_string(rotary.exponent_width) + " of " +
                                          std::to_string(rotary.head_dim) +
                                          ", whose frequencies cannot be shown");
    static_cast<RotaryConfig&>(setup) = rotary;
    setup.first = 0;  // drawn first, at any index
    if (rotary.scaling.method == ScalingMethod::none) {
        setup.scaling = initialScaling();
        setup.scaling.original_length = setup.context_length;
    }
    return sanitized(setup);
}

}  // namespace

ParsedConfig readHuggingFaceConfig(std::string_view text, Setup setup) {
    ParsedRotation model = readRotation(text);
    ParsedConfig reading;
    reading.notes = std::move(model.notes);
    if (model.positions > 0) setup.context_length = std::min(model.positions, bounds::kMaxContextLength);
    setup.x = Eigen::VectorXd();
    setup.y = Eigen::VectorXd();
    std::vector<std::string> names;
    for (const RotatedLayers& layers : model.layers) {
        if (layers.rotary.rotatedWidth() == 0 && layers.kind == kNotRotated && model.layers.size() > 1)
            continue;
        reading.kinds.push_back({layers.kind, setupOf(layers.rotary, setup)});
        names.push_back(layers.kind);
        if (layers.rotary.scaling.method == ScalingMethod::dynamic_ntk)
            reading.notes.emplace_back(
                "dynamic scaling changes nothing up to the trained length; raise the text length L′ to see "
                "it");
    }
    if (model.values == ValueRotation::rotated)
        reading.notes.emplace_back("values are rotated too, and outputs are not rotated back");
    reading.setup = reading.kinds.front().setup;
    if (reading.kinds.size() == 1)
        reading.kinds.clear();
    else
        reading.notes.push_back("the model has several kinds of layers (" + join(names, ", ") + "); " +
                                names.front() + " is shown");
    return reading;
}

}  // namespace roper
