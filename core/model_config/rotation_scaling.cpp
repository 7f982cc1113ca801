#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/model_config/rotation_reader.h"

// How frequencies are scaled for contexts longer than those seen in training.

namespace roper {

ScalingMethod RotationReader::methodOf(const ConfigFields& rope, const std::string& name) const {
    static const std::vector<std::pair<std::string, ScalingMethod>> kKnown = {
        {"default", ScalingMethod::none},
        {"linear", ScalingMethod::linear},
        {"dynamic", ScalingMethod::dynamic_ntk},
        {"yarn", ScalingMethod::yarn},
        {"llama3", ScalingMethod::llama3},
        {"longrope", ScalingMethod::longrope},
        {"proportional", ScalingMethod::p_rope},
        {"su", ScalingMethod::longrope}};  // Phi-3's first name for LongRoPE
    if (name == "mrope") {
        note("mrope gives each part of the head its own positions; for text they are all the same");
        return ScalingMethod::none;
    }
    if (name == "yarn" && type_.yarn_means_longrope) return ScalingMethod::longrope;
    for (const auto& [known, method] : kKnown)
        if (known == name) return method;
    const auto names = mapped(kKnown, &std::pair<std::string, ScalingMethod>::first);
    rope.refuse(rope.has("rope_type") ? "rope_type" : "type",
                "\"" + toSingleLine(name) + "\" is unknown; expected one of " + join(names, ", "));
}

void RotationReader::readScaling(const ConfigFields& rope, const std::string& name, RotaryConfig& rotary) {
    Scaling& scaling = rotary.scaling;
    scaling.method = methodOf(rope, name);
    if (scaling.method == ScalingMethod::none) return;
    if (scaling.method == ScalingMethod::p_rope) {
        scaling.proportion = rope.number(kRotaryFraction, 0, 1).value_or(1);
        scaling.proportion_factor = rope.number("factor", 1, kMaxFactor).value_or(1);
        return;
    }
    scaling.original_length = reading_.positions > 0 ? reading_.positions : 2048;
    if (scaling.method == ScalingMethod::dynamic_ntk) {
        if (type_.reads_alpha || !type_.is_known)
            if (const auto alpha = rope.number("alpha", 1, kMaxAlpha)) {
                note("alpha increases the base whatever the length of the text: NTK-aware scaling");
                scaling.method = ScalingMethod::ntk;
                scaling.factor = *alpha;
                return;
            }
    } else {
        scaling.original_length = trainedLength(rope);
    }
    scaling.factor = factorOf(rope, scaling);
    if (scaling.method == ScalingMethod::yarn) readYarn(rope, scaling);
    if (scaling.method == ScalingMethod::longrope) readLongRope(rope, rotary);
    if (scaling.method == ScalingMethod::llama3) readLlama3(rope, scaling);
}

double RotationReader::trainedLength(const ConfigFields& rope) const {
    const auto of_model = number(kTrained, 1, kMaxTextLength), own = rope.number(kTrained, 1, kMaxTextLength);
    const double all = reading_.positions > 0 ? reading_.positions : 4096;
    if (type_.is_nested) return own.value_or(all);
    return of_model.value_or(own.value_or(all));
}

double RotationReader::factorOf(const ConfigFields& rope, const Scaling& scaling) const {
    if (const auto factor = rope.number("factor", 1, kMaxFactor)) return *factor;
    const bool follows = scaling.method == ScalingMethod::longrope || scaling.method == ScalingMethod::yarn;
    if (!follows || reading_.positions == 0) rope.refuse("factor", "is missing");
    return std::clamp(reading_.positions / scaling.original_length, 1.0, kMaxFactor);
}

void RotationReader::readYarn(const ConfigFields& rope, Scaling& scaling) const {
    const auto orUsual = [](const std::optional<double>& given, double usual) {
        return given && *given > 0 ? *given : usual;
    };
    scaling.beta_fast = orUsual(rope.number("beta_fast", 0, 1e6), 32);
    scaling.beta_slow = orUsual(rope.number("beta_slow", 0, 1e6), 1);
    if (scaling.beta_fast < scaling.beta_slow) rope.refuse("beta_fast", "must not be below beta_slow");
    auto own = rope.number("attention_factor", 1e-6, 100);
    if (!own && type_.yarn_factor > 0 && !is_given_by_kind_) own = type_.yarn_factor;
    const double scale = rope.number("mscale", 0, 100).value_or(0),
                 all = rope.number("mscale_all_dim", 0, 100).value_or(0);
    const double grown = 0.1 * std::log(scaling.factor);
    const bool by_scales = !own && scale > 0 && all > 0;
    scaling.attention_factor = by_scales ? (scale * grown + 1) / (all * grown + 1) : own.value_or(0);
    if (!type_.is_nested) {
        scaling.truncate = rope.flag("truncate").value_or(true);
        return;
    }
    scaling.truncate = truncate_.value_or(true);
    if (!rope.flag("truncate").value_or(true))
        note("truncate is not read in " + rope.nameOf("truncate") +
             ": transformers 5.24 expects it next to the kinds of layers");
}

void RotationReader::readLongRope(const ConfigFields& rope, RotaryConfig& rotary) const {
    Scaling& scaling = rotary.scaling;
    scaling.attention_factor = rope.number("attention_factor", 1e-6, 100).value_or(0);
    if (type_.reads_mscales) {
        scaling.attention_factor = rope.number("short_mscale", 1e-6, 100).value_or(scaling.attention_factor);
        scaling.long_attention_factor =
            rope.number("long_mscale", 1e-6, 100).value_or(scaling.attention_factor);
    }
    const auto pairs = static_cast<std::size_t>(rotary.rotatedWidth() / 2);
    const auto factors = [&](const char* key) {
        const auto listed = rope.numbers(key, kMinListedFactor, kMaxListedFactor, 1 << 16);
        if (!listed) rope.refuse(key, "is missing: a list of " + std::to_string(pairs) + " numbers");
        if (listed->size() != pairs)
            rope.refuse(key, "has " + std::to_string(listed->size()) + " numbers; it needs one for each of " +
                                 std::to_string(pairs) + " pairs");
        ComparableVector made;
        made = Eigen::Map<const Eigen::VectorXd>(listed->data(), static_cast<Eigen::Index>(listed->size()));
        return made;
    };
    scaling.short_factors = factors("short_factor");
    scaling.long_factors = factors("long_factor");
    if (!type_.reads_mscales || scaling.long_factors == scaling.short_factors) return;
    scaling.long_factors = scaling.short_factors;
    note("long_factor is not read in models of type " + type_.name +
         ": transformers 5.24 also rotates long texts by short_factor, unlike Microsoft's own "
         "code");
}

void RotationReader::readLlama3(const ConfigFields& rope, Scaling& scaling) const {
    const auto required = [&](const char* key) {
        const auto value = rope.number(key, 0.001, 1e6);
        if (!value) rope.refuse(key, "is missing");
        return *value;
    };
    scaling.low_frequency_factor = required("low_freq_factor");
    scaling.high_frequency_factor = required("high_freq_factor");
    if (scaling.high_frequency_factor < scaling.low_frequency_factor)
        rope.refuse("high_freq_factor", "must not be below low_freq_factor");
}

}  // namespace roper
