#include "core/pretrained/feature_reading.h"

#include <algorithm>

namespace roper {

namespace {

constexpr std::int64_t kUsualInterval = 4, kMaxTaps = 64;

/// Attention in every n-th layer.
std::vector<Mixer> attendingEvery(std::int64_t n, std::int64_t layers) {
    std::vector<Mixer> mixers;
    for (std::int64_t layer = 0; layer < layers; ++layer)
        mixers.push_back((layer + 1) % n == 0 ? Mixer::attention : Mixer::gated_delta);
    return mixers;
}

std::vector<Mixer> deltaLayers(const ConfigFields& config, std::int64_t layers) {
    const auto interval = config.integer("full_attention_interval", 1, static_cast<int>(kMaxLayers));
    const auto kinds = config.kindsByLayer("layer_types", layers, {"full_attention", "linear_attention"});
    if (!kinds) return attendingEvery(interval.value_or(kUsualInterval), layers);
    std::vector<Mixer> mixers;
    for (const std::size_t kind : *kinds)
        mixers.push_back(kind == 0 ? Mixer::attention : Mixer::gated_delta);
    return mixers;
}

}  // namespace

void readGatedDelta(const ConfigFields& config, Architecture& model) {
    const auto size = [&](const char* key, std::int64_t most, int usually) {
        return config.integer(key, 1, static_cast<int>(most)).value_or(usually);
    };
    constexpr const char* kValueHeads = "linear_num_value_heads";
    model.gated_delta = {.key_heads = size("linear_num_key_heads", kMaxHeads, 16),
                         .value_heads = size(kValueHeads, kMaxHeads, 32),
                         .key_dim = size("linear_key_head_dim", kMaxHeadDim, 128),
                         .value_dim = size("linear_value_head_dim", kMaxHeadDim, 128),
                         .taps = size("linear_conv_kernel_dim", kMaxTaps, 4)};
    if (model.gated_delta.value_heads % model.gated_delta.key_heads != 0)
        config.refuse(kValueHeads, "must be a multiple of linear_num_key_heads");
    setMixers(deltaLayers(config, model.layers), model);
    // Published configs name the gate that transformers' classes always compute.
    if (!config.flag("attn_output_gate").value_or(true))
        config.refuse("attn_output_gate", "must be true: models of this family gate their heads");
    constexpr const char* kGate = "output_gate_type";
    if (const auto gate = config.text(kGate); gate && *gate != "swish" && *gate != "silu")
        config.refuse(kGate, "must be swish, not " + quoteExcerpt(*gate));
}

void readGgufGatedDelta(const GgufEntries& entries, Architecture& model) {
    GatedDelta& sizes = model.gated_delta;
    constexpr const char *kHeads = "ssm.time_step_rank", *kWidth = "ssm.inner_size",
                         *kLayers = "attention.recurrent_layers";
    sizes.key_heads = entries.required("ssm.group_count", kMaxHeads);
    sizes.value_heads = entries.required(kHeads, kMaxHeads);
    sizes.key_dim = entries.required("ssm.state_size", kMaxHeadDim);
    sizes.taps = entries.required("ssm.conv_kernel", kMaxTaps);
    const std::int64_t width = entries.required(kWidth, kMaxHeads * kMaxHeadDim);
    if (sizes.value_heads % sizes.key_heads != 0)
        entries.refuse(kHeads, "must be a multiple of ssm.group_count");
    if (width % sizes.value_heads != 0) entries.refuse(kWidth, "must be a multiple of ssm.time_step_rank");
    sizes.value_dim = width / sizes.value_heads;
    std::vector<Mixer> mixers = attendingEvery(
        entries.integer("full_attention_interval", 1, kMaxLayers, kUsualInterval), model.layers);
    if (const auto* const recurrent = entries.flags(kLayers); recurrent != nullptr && !recurrent->empty()) {
        if (std::ssize(*recurrent) < model.layers)
            entries.refuse(kLayers, "has " + std::to_string(recurrent->size()) + " flags for " +
                                        std::to_string(model.layers) + " layers");
        for (std::size_t layer = 0; layer < mixers.size(); ++layer)
            mixers[layer] = (*recurrent)[layer] ? Mixer::gated_delta : Mixer::attention;
    }
    setMixers(mixers, model);
}

void setMixers(std::vector<Mixer> mixers, Architecture& model) {
    model.mixers = std::move(mixers);
    const auto isUnrotated = [](const RotaryConfig& rotation) { return rotation.rotatedWidth() == 0; };
    auto unrotated = std::find_if(model.rotations.begin(), model.rotations.end(), isUnrotated);
    if (unrotated == model.rotations.end())
        unrotated = model.rotations.insert(unrotated, unrotatedConfig(model.head_dim));
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        if (!model.hasHeads(layer))
            model.rotation_of_layer[static_cast<std::size_t>(layer)] =
                static_cast<std::size_t>(unrotated - model.rotations.begin());
}

}  // namespace roper
