#include "core/control/model_description.h"

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

double numberIn(const SafetensorsFile& file, const std::string& key) {
    const auto value = parseNumber(file.entry(key));
    if (!value) throw Error(ErrorKind::checkpoint, file.origin() + ": \"" + key + "\" is not a number");
    return *value;
}

}  // namespace

std::map<std::string, std::string> ModelDescription::toMetadata() const {
    return {{"step", std::to_string(step)},
            {"position", position},
            {"attention", nameOf(attention)},
            {"causal", causal ? "true" : "false"},
            {"pairing", nameOf(rotation.pairing)},
            {"frequency_formula", nameOf(rotation.frequency_formula)},
            {"base", formatNumber(rotation.base)},
            {"rotary_fraction", formatNumber(rotation.rotary_fraction)},
            {"value_rotary_fraction", formatNumber(value_rotary_fraction)},
            {"layers", std::to_string(layers)},
            {"heads", std::to_string(heads)}};
}

ModelDescription ModelDescription::fromFile(const SafetensorsFile& file) {
    ModelDescription model;
    model.step = static_cast<std::int64_t>(numberIn(file, "step"));
    try {
        model.position = positionMethod(file.entry("position")).name;
        model.attention = enumFromName<AttentionKind>(file.entry("attention"));
        model.rotation.pairing = enumFromName<Pairing>(file.entry("pairing"));
        model.rotation.frequency_formula = enumFromName<FrequencyFormula>(file.entry("frequency_formula"));
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint,
                    "the model was written by another version: " + std::string(error.what()));
    }
    model.causal = file.entryOr("causal", "true") == "true";
    model.rotation.base = numberIn(file, "base");
    model.rotation.rotary_fraction = numberIn(file, "rotary_fraction");
    model.value_rotary_fraction = numberIn(file, "value_rotary_fraction");
    model.layers = static_cast<int>(numberIn(file, "layers"));
    model.heads = static_cast<int>(numberIn(file, "heads"));
    return model;
}

}  // namespace roper
