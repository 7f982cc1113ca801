#include "core/pretrained/feature_reading.h"

#include <cmath>

#include "core/model_config/model_type.h"
#include "core/pretrained/gguf_rotation.h"

namespace roper {
namespace {

/// YaRN's factor on all scores, besides the one on cos and sin: (0.1·m·ln s + 1)² for `mscale_all_dim` m
/// (DeepSeek).
double yarnScoreFactor(const ConfigFields& config, const ModelType& of_model) {
    const auto rope = ropeParametersOf(config, of_model);
    if (!rope) return 1;
    const auto type = rope->text(rope->contains("rope_type") ? "rope_type" : "type");
    const double all = rope->number("mscale_all_dim", -1e6, 1e6).value_or(0),
                 factor = rope->number("factor", 0, 1e9).value_or(1);
    if (type.value_or("default") == "default" || all == 0 || factor <= 1) return 1;
    return std::pow(0.1 * all * std::log(factor) + 1, 2);
}

/// Appends unrotated features to heads that have only rotated ones so far.
void appendUnrotated(Architecture& model, std::int64_t unrotated) {
    model.head_dim = model.latent.rotated + unrotated;
    for (RotaryConfig& rotation : model.rotations) {
        rotation.head_dim = static_cast<int>(model.head_dim);
        rotation.rotary_fraction =
            static_cast<double>(model.latent.rotated) / static_cast<double>(model.head_dim);
    }
}

constexpr const char *kRotatedWidth = "rope.dimension_count", *kKeyLength = "attention.key_length",
                     *kValueLength = "attention.value_length";

/// @throws Error (checkpoint) unless the vectors that llama.cpp caches have the widths of the latent vector
/// with and without the rotated features
void requireCompressedWidths(const GgufEntries& entries, const LatentAttention& latent) {
    const auto require = [&](const char* key, std::int64_t expected) {
        const std::int64_t given = entries.integer(key, 1, kMaxWidth + kMaxHeadDim, expected);
        if (given != expected)
            entries.refuse(key, "is " + std::to_string(given) + ", but the latent vector has " +
                                    std::to_string(latent.rank) + " features, and " +
                                    std::to_string(latent.rotated) + " of a head rotate");
    };
    require(kKeyLength, latent.rank + latent.rotated);
    require(kValueLength, latent.rank);
}

}  // namespace

void readLatentAttention(const ConfigFields& config, const LatentDefaults& rules, Architecture& model) {
    if (rules.rank == 0) return;
    const auto width = [&](const char* key, std::int64_t min_value, std::int64_t max_value,
                           std::int64_t default_value) -> std::int64_t {
        return config.integer(key, static_cast<int>(min_value), static_cast<int>(max_value))
            .value_or(static_cast<int>(default_value));
    };
    if (model.key_value_heads != model.heads)
        config.refuse("num_key_value_heads", "must equal num_attention_heads in latent attention");
    constexpr const char *kRotated = "qk_rope_head_dim", *kUnrotated = "qk_nope_head_dim";
    LatentAttention& latent = model.latent;
    latent.rotated = width(kRotated, 2, kMaxHeadDim, rules.rotated);
    if (latent.rotated != model.head_dim || model.head_dim % 2 != 0)
        config.refuse(kRotated, "must be even, and equal head_dim if that is given");
    for (const RotaryConfig& rotation : model.rotations)
        if (rotation.rotatedWidth() != latent.rotated)
            config.refuse(kRotated,
                          "is " + std::to_string(latent.rotated) + ", of which only " +
                              std::to_string(rotation.rotatedWidth()) +
                              " rotate (partial_rotary_factor); in latent attention, all must rotate");
    latent.rank = width("kv_lora_rank", 1, kMaxWidth, rules.rank);
    latent.query_rank = width("q_lora_rank", 1, kMaxWidth,
                              config.contains("q_lora_rank") ? 0 : rules.query_rank);  // null: none
    appendUnrotated(model, width(kUnrotated, 1, kMaxHeadDim, rules.unrotated));
    if (model.head_dim > kMaxHeadDim)
        config.refuse(kUnrotated, "makes heads of more than " + std::to_string(kMaxHeadDim) + " features");
    model.value_dim =
        width("v_head_dim", 1, kMaxHeadDim, rules.values > 0 ? rules.values : model.width / model.heads);
    model.score_scale =
        yarnScoreFactor(config, findModelType(model.family)) / std::sqrt(static_cast<double>(model.head_dim));
}

void readGgufLatentAttention(const GgufEntries& entries, Architecture& model) {
    LatentAttention& latent = model.latent;
    if (model.key_value_heads != 1 && model.key_value_heads != model.heads)
        entries.refuse("attention.head_count_kv", "must be 1 or attention.head_count in latent attention");
    model.key_value_heads = model.heads;
    model.key_value_heads_of_layer.clear();
    latent.rank = entries.required("attention.kv_lora_rank", kMaxWidth);
    latent.query_rank = entries.integer("attention.q_lora_rank", 0, kMaxWidth, 0);
    latent.rotated = entries.required(kRotatedWidth, kMaxHeadDim);
    // Where these are missing, the file was written before April 2025, and key_length is the head's.
    constexpr const char *kOfHeads = "attention.key_length_mla", *kValues = "attention.value_length_mla";
    const bool has_both = entries.has(kOfHeads) || entries.has(kValues);
    model.head_dim = entries.required(has_both ? kOfHeads : kKeyLength, kMaxHeadDim);
    model.value_dim = has_both ? entries.required(kValues, kMaxHeadDim)
                               : entries.integer(kValueLength, 1, kMaxHeadDim, model.width / model.heads);
    if (latent.rotated >= model.head_dim || latent.rotated % 2 != 0)
        entries.refuse(kRotatedWidth,
                       "is " + std::to_string(latent.rotated) +
                           "; in latent attention it must be even and below the width of a head, " +
                           std::to_string(model.head_dim));
    if (has_both) requireCompressedWidths(entries, latent);
    model.score_scale = readGgufScoreFactor(entries) / std::sqrt(static_cast<double>(model.head_dim));
}

}  // namespace roper
