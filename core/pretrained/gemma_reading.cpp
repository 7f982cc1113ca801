#include "core/pretrained/feature_reading.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/text.h"

namespace roper {
namespace {

constexpr double kNoCutoff = -std::numeric_limits<double>::infinity();

/// The p-quantile of the standard normal distribution (0 < p < 1), by bisection.
double normalQuantile(double p) {
    double low = -10, high = 10;
    constexpr int kHalvings = 80;  // to the last bit
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        (std::erfc(-middle / std::numbers::sqrt2) / 2 < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

/// z of each layer's cutoff (`Architecture::gate_cutoffs`), from the fraction of its gates that are set to 0.
std::vector<double> cutoffsOf(const ConfigFields& config, std::int64_t layers) {
    constexpr const char* kKey = "activation_sparsity_pattern";
    constexpr double kUsual = 0.95, kMost = 0.999999;
    constexpr std::int64_t kUsualLayers = 10;
    std::vector<double> fractions(static_cast<std::size_t>(layers), 0);
    if (const auto given = config.numbers(kKey, 0, kMost, kMaxLayers))
        fractions = *given;
    else if (layers > kUsualLayers)
        std::fill_n(fractions.begin(), kUsualLayers, kUsual);
    config.requireOnePerLayer(kKey, fractions.size(), layers);
    std::vector<double> cutoffs;
    for (const double suppressed : fractions)
        cutoffs.push_back(suppressed > 0 ? normalQuantile(suppressed) : kNoCutoff);
    return cutoffs;
}

/// Makes the last `shared` layers use keys and values of earlier ones.
/// @returns false if one of them has no earlier layer with the same kind of attention
bool shareKeys(std::int64_t shared, Architecture& model) {
    if (shared == 0) return true;
    const std::int64_t first = model.layers - shared;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        std::int64_t source = std::min(layer, first - 1);
        while (layer >= first && source >= 0 && model.isWindowed(source) != model.isWindowed(layer))
            --source;
        if (source < 0) return false;
        model.key_value_source.push_back(source);
    }
    return true;
}

/// The value of a member in layers with full attention, according to per_layer_config.
/// @throws Error (usage) if it differs between these layers, or from `usual` in a windowed layer
std::int64_t ofFullLayers(const ConfigFields& config, const char* member, std::int64_t usual,
                          const Architecture& model) {
    const auto layers = config.object("per_layer_config");
    std::optional<std::int64_t> of_full;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const auto own = layers->object(std::to_string(layer));
        const std::int64_t value =
            own ? own->integer(member, 1, static_cast<int>(kMaxHeads)).value_or(static_cast<int>(usual))
                : usual;
        const std::int64_t expected = model.isWindowed(layer) ? usual : of_full.value_or(value);
        if (value != expected)
            layers->refuse(std::to_string(layer),
                           std::string("gives ") + member + " " + std::to_string(value) +
                               "; layers with the same kind of attention must have the same number");
        if (!model.isWindowed(layer)) of_full = value;
    }
    return of_full.value_or(usual);
}

/// @throws Error (usage) for a member in per_layer_config that the class does not read there
void refuseOtherMembersByLayer(const ConfigFields& layers) {
    for (const std::string& layer : layers.objectKeys()) {
        const ConfigFields own = *layers.object(layer);
        for (const char* const read : {"head_dim", "num_key_value_heads"})
            own.integer(read, 1, static_cast<int>(kMaxHeadDim));
        for (const std::string& member : own.unread())
            layers.refuse(layer,
                          "has " + toSingleLine(member) + ", which is not supported for a single layer");
    }
}

}  // namespace

void readLayerEmbeddings(const ConfigFields& config, Architecture& model) {
    model.layer_embeddings.width =
        config.integer("hidden_size_per_layer_input", 0, static_cast<int>(kMaxWidth)).value_or(256);
    model.layer_embeddings.vocabulary =
        config.integer("vocab_size_per_layer_input", 1, static_cast<int>(kMaxVocabulary)).value_or(262144);
}

void readGgufLayerEmbeddings(const GgufEntries& entries, Architecture& model) {
    model.layer_embeddings.width = entries.integer("embedding_length_per_layer_input", 0, kMaxWidth, 0);
    model.layer_embeddings.vocabulary = model.vocabulary;
}

void readAlternatingUpdates(const ConfigFields& config, Architecture& model) {
    constexpr int kMaxStreams = 64;
    model.altup.streams = config.integer("altup_num_inputs", 1, kMaxStreams).value_or(4);
    model.altup.active = config.integer("altup_active_idx", 0, kMaxStreams - 1).value_or(0);
    if (model.altup.active >= model.altup.streams)
        config.refuse("altup_active_idx",
                      "must be below altup_num_inputs, " + std::to_string(model.altup.streams));
    model.altup.scales_active = config.flagOr("altup_correct_scale", true);
    model.laurel_rank = config.integer("laurel_rank", 1, static_cast<int>(kMaxWidth)).value_or(64);
    model.gate_cutoffs = cutoffsOf(config, model.layers);
}

void readGgufAlternatingUpdates(const GgufEntries& entries, Architecture& model) {
    constexpr std::int64_t kMaxStreams = 64;
    constexpr const char *kActive = "altup.active_idx", *kCutoffs = "activation_sparsity_scale";
    model.altup.streams = entries.integer("altup.num_inputs", 1, kMaxStreams, 4);
    model.altup.active = entries.integer(kActive, 0, kMaxStreams - 1, 0);
    if (model.altup.active >= model.altup.streams) entries.refuse(kActive, "must be below altup.num_inputs");
    if (const auto* const cutoffs = entries.numbers(kCutoffs)) model.gate_cutoffs = *cutoffs;
    if (std::ssize(model.gate_cutoffs) != model.layers && !model.gate_cutoffs.empty())
        entries.refuse(kCutoffs, "has " + std::to_string(model.gate_cutoffs.size()) + " numbers for " +
                                     std::to_string(model.layers) + " layers");
    for (const double cutoff : model.gate_cutoffs)
        if (!std::isfinite(cutoff) && cutoff != kNoCutoff)
            entries.refuse(kCutoffs, "contains a number that is not finite");
}

void readSharedKeys(const ConfigFields& config, Architecture& model, int usually) {
    constexpr const char* kShared = "num_kv_shared_layers";
    const std::int64_t shared = config.integer(kShared, 0, static_cast<int>(kMaxLayers)).value_or(usually);
    if (shared >= model.layers)
        config.refuse(kShared, "is " + std::to_string(shared) + ", but there are " +
                                   std::to_string(model.layers) + " layers");
    if (!shareKeys(shared, model))
        config.refuse(kShared, "is " + std::to_string(shared) +
                                   ": no earlier layer has the same kind of attention as one of these");
}

void readGgufSharedKeys(const GgufEntries& entries, Architecture& model) {
    constexpr const char* kShared = "attention.shared_kv_layers";
    const std::int64_t shared = entries.integer(kShared, 0, model.layers - 1, 0);
    if (!shareKeys(shared, model))
        entries.refuse(kShared, "is " + std::to_string(shared) +
                                    ": no earlier layer has the same kind of attention as one of these");
}

void readGemma4Layers(const ConfigFields& config, Architecture& model) {
    readSharedKeys(config, model, 0);
    model.values_are_keys = config.flag("attention_k_eq_v").value_or(false);
    const auto own = config.integer("num_global_key_value_heads", 1, static_cast<int>(kMaxHeads));
    std::int64_t of_full =
        model.values_are_keys ? own.value_or(static_cast<int>(model.key_value_heads)) : model.key_value_heads;
    if (const auto layers = config.object("per_layer_config")) {
        refuseOtherMembersByLayer(*layers);
        of_full = ofFullLayers(config, "num_key_value_heads", model.key_value_heads, model);
    }
    if (of_full != model.key_value_heads) {
        if (model.heads % of_full != 0)
            config.refuse("num_global_key_value_heads",
                          "must divide num_attention_heads, " + std::to_string(model.heads));
        for (std::int64_t layer = 0; layer < model.layers; ++layer)
            model.key_value_heads_of_layer.push_back(model.isWindowed(layer) ? model.key_value_heads
                                                                             : of_full);
        model.key_value_heads = std::max(model.key_value_heads, of_full);
    }
    if (!config.flag("use_double_wide_mlp").value_or(false) || model.key_value_source.empty()) return;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        model.feed_forward_of_layer.push_back(model.feed_forward *
                                              (model.sharesKeysAndValues(layer) ? 2 : 1));
    model.feed_forward *= 2;
}

}  // namespace roper
