#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/model_config/rotation_reader.h"

// Which layers rotate, and how.

namespace roper {

std::vector<std::string> RotationReader::layerKinds() const {
    const auto count = integer("num_hidden_layers", 1, kMaxConfigLayers);
    if (auto listed = config_.texts("layer_types", kMaxConfigLayers)) {
        if (type_.forces_last && !listed->empty()) listed->back() = type_.last_layer;
        return *listed;
    }
    std::vector<std::string> kinds;
    if (!count || type_.layers.empty()) return kinds;
    const auto own =
        type_.reads_pattern ? config_.integer("sliding_window_pattern", 1, kMaxConfigLayers) : std::nullopt;
    const auto global = config_.integer("global_attn_every_n_layers", 1, kMaxConfigLayers);
    for (int i = 0; i < *count; ++i) {
        const bool is_dense = i < denseLayers();
        const int layer = is_dense ? i : i - denseLayers();  // patterns start after the dense layers
        if (is_dense)
            kinds.emplace_back((layer + 1) % densePattern() != 0 ? "sliding_attention" : "full_attention");
        else if (own)
            kinds.emplace_back((layer + 1) % *own != 0 ? "sliding_attention" : "full_attention");
        else if (global)
            kinds.emplace_back(layer % *global != 0 ? "sliding_attention" : "full_attention");
        else
            kinds.push_back(type_.layers[static_cast<std::size_t>(layer) % type_.layers.size()]);
    }
    if (!type_.last_layer.empty()) kinds.back() = type_.last_layer;
    return kinds;
}

int RotationReader::denseLayers() const {
    if (type_.rotating != RotatingLayers::sliding_or_dense) return 0;
    return config_.integer("first_k_dense_replace", 0, kMaxConfigLayers).value_or(0);
}

int RotationReader::densePattern() const {
    return config_.integer("prefix_dense_sliding_window_pattern", 1, kMaxConfigLayers).value_or(1);
}

std::vector<bool> RotationReader::forcedLayers(int layers) const {
    std::vector<bool> forced(static_cast<std::size_t>(layers));
    if (type_.rotating != RotatingLayers::sliding_or_dense || densePattern() != 1) return forced;
    const auto kinds = config_.texts("mlp_layer_types", kMaxConfigLayers);
    for (std::size_t layer = 0; layer < forced.size(); ++layer)
        forced[layer] = kinds ? layer < kinds->size() && (*kinds)[layer] == "dense"
                              : static_cast<int>(layer) < denseLayers();
    return forced;
}

void RotationReader::placeLayers() {
    const std::vector<std::string> kinds = layerKinds();
    const auto count = integer("num_hidden_layers", 1, kMaxConfigLayers);
    const int layers = !kinds.empty() ? static_cast<int>(kinds.size()) : count.value_or(0);
    const std::vector<bool> rotates = rotatingLayers(kinds, layers);
    std::vector<int> unrotated;
    for (int layer = 0; layer < layers; ++layer) {
        const std::string kind = kinds.empty() ? "" : kinds[static_cast<std::size_t>(layer)];
        if (!rotates[static_cast<std::size_t>(layer)]) {
            unrotated.push_back(layer);
            continue;
        }
        RotatedLayers* const of_kind = layersOf(kind);
        if (of_kind != nullptr) of_kind->layers.push_back(layer);
    }
    if (unrotated.empty()) return;
    reading_.layers.push_back(
        {kNotRotated, unrotated, unrotatedConfig(reading_.layers.front().rotary.head_dim)});
    const auto isEmpty = [](const RotatedLayers& one) { return one.layers.empty(); };
    const auto rotate = [](const RotatedLayers& one) { return one.rotary.rotatedWidth() > 0; };
    const bool is_noted = std::ranges::none_of(reading_.layers, rotate);
    const bool any_rotates = static_cast<int>(unrotated.size()) < layers;
    if (any_rotates || is_noted) std::erase_if(reading_.layers, isEmpty);
    if (is_noted) return;
    note(countOf(unrotated.size(), "layer") + " of " + std::to_string(layers) +
         (unrotated.size() == 1 ? " does" : " do") + " not rotate");
}

std::vector<bool> RotationReader::rotatingLayers(const std::vector<std::string>& kinds, int layers) const {
    const auto isSliding = [](const std::string& kind) { return kind.find("sliding") != std::string::npos; };
    const bool sliding_alone = type_.rotating == RotatingLayers::sliding ||
                               type_.rotating == RotatingLayers::sliding_or_dense ||
                               (type_.rotating == RotatingLayers::sliding_if_window &&
                                (config_.has("sliding_window") || !config_.contains("sliding_window")));
    const bool none_rotates = noLayerRotates();
    const std::vector<bool> marked =
        type_.rotating == RotatingLayers::listed ? markedLayers(layers) : std::vector<bool>();
    const std::vector<bool> forced = forcedLayers(layers);
    std::vector<bool> rotates;
    for (int layer = 0; layer < layers; ++layer) {
        const auto at = static_cast<std::size_t>(layer);
        const std::string kind = kinds.empty() ? "" : kinds[at];
        const bool attends = !kind.starts_with("linear_attention") && kind != "conv" && kind != "mamba";
        rotates.push_back(!none_rotates && attends && (!sliding_alone || isSliding(kind) || forced[at]) &&
                          (marked.empty() || marked[at]));
    }
    return rotates;
}

std::vector<bool> RotationReader::markedLayers(int layers) const {
    const auto listed = config_.numbers("no_rope_layers", 0, 1, kMaxConfigLayers);
    const int interval = config_.integer("no_rope_layer_interval", 1, kMaxConfigLayers).value_or(4);
    std::vector<bool> marked;
    for (int layer = 0; layer < layers; ++layer) {
        const auto at = static_cast<std::size_t>(layer);
        const bool is_listed = listed && !listed->empty();
        marked.push_back(is_listed ? at >= listed->size() || (*listed)[at] != 0
                                   : (layer + 1) % interval != 0);
    }
    return marked;
}

RotatedLayers* RotationReader::layersOf(const std::string& kind) {
    if (reading_.layers.size() == 1) return &reading_.layers.front();
    for (RotatedLayers& one : reading_.layers)
        if (one.kind == kind) return &one;
    return nullptr;
}

}  // namespace roper
